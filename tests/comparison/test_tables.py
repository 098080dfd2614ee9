"""A comparison's table for other programs: DataFrame, Markdown, LaTeX, compressed JSON."""

import re
from itertools import pairwise

import reports

from boostplug.comparison.document import as_json_gz, read


def test_latex(result, tmp_path):
    text = result.to_latex()
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert lines[0] == r"\begin{tabular}{lrrrrrr}"
    assert lines[1:3] == [r"\toprule", r"method & NDCG@5 & NDCG@10 & MAP & KendallTau & $\Delta$ [95 \%] & p \\"]
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    rows = [line for line in lines if line.endswith(r"\\") and "multicolumn" not in line][1:]
    assert len(rows) == 8
    assert {line.count("&") for line in rows} == {6}
    assert rows[1].startswith(r"rank\_xendcg & ")
    for framework in (rows[:4], rows[4:]):
        for i in range(1, 5):
            values = [row.split(" & ")[i] for row in framework]
            bold = [re.sub(r"\\textbf{([^}]*)}.*", r"\1", value) for value in values if value.startswith(r"\textbf")]
            plain = [value.split(" ")[0] for value in values if not value.startswith(r"\textbf")]
            as_number = [float(value.replace("$-$", "-")) for value in plain]
            assert bold
            assert min(float(value) for value in bold) >= max(as_number, default=0)
    differences = [row.split(" & ")[5] for row in rows]
    assert differences[0] == differences[4] == "--"
    assert all(re.fullmatch(r"(\+|\$-\$)\.\d{4} \[(\+|\$-\$)\.\d{4}, (\+|\$-\$)\.\d{4}\]", d) for d in differences[1:4])
    assert all(line.startswith("%") for line in text.splitlines()[:3])
    assert result.to_latex(tmp_path / "table.tex") is None
    assert (tmp_path / "table.tex").read_text() == text


def test_what_latex_reads_as_commands_is_escaped(result):
    document = {**result.document, "methods": [dict(row) for row in result.document["methods"]]}
    document["methods"][3]["method"] = r"a_b & 50% {c} \d #1 x^2 ~ $ <|>"
    name = r"a\_b \& 50\% \{c\} \textbackslash{}d \#1 x\textasciicircum{}2 \textasciitilde{} \$ $<$\textbar{}$>$"
    assert f"\n{name} & " in reports.latex(document)


def test_markdown_without_a_path_is_returned(result, tmp_path):
    result.to_markdown(tmp_path / "out.md")
    assert result.to_markdown() == (tmp_path / "out.md").read_text()
    assert "**" in result.to_markdown()


HOSTILE = "<img src=x onerror=alert(1)> & a|b \\\\| \u202egnp\u2066 \x1b[2J\u200b"


def with_hostile_names(result):
    document = {**result.document, "notes": [HOSTILE], "data": {**result.document["data"], "name": HOSTILE}}
    document["methods"] = [dict(row) for row in document["methods"]]
    document["methods"][3]["method"] = HOSTILE
    return document


def test_markdown_escapes_html_and_the_bounds_of_cells(result):
    text = reports.markdown(with_hostile_names(result))
    assert "<img" not in text
    assert text.startswith("# &lt;img src=x onerror=alert(1)&gt; &amp; a")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {11}
    assert any("&lt;img" in row and "a&#124;b" in row for row in rows)
    assert reports.markdown({**result.document, "notes": ["one\n| two |"]}).count("\n- Note: one | two |\n") == 1


def test_frame_is_the_table(result):
    frame = result.to_frame()
    assert list(frame.columns[:5]) == ["framework", "method", "objective", "NDCG@5", "NDCG@5 ±"]
    assert {"difference", "interval_low", "interval_high", "p_holm"} <= set(frame.columns)
    assert all(a != b for a, b in pairwise(frame["method"]))


def test_a_compressed_file_is_the_document_and_always_the_same(tmp_path):
    whole = {"schema": "small", "text": "Δ", "values": [0.1, float("nan")]}
    (tmp_path / "in.json.gz").write_bytes(as_json_gz(whole))
    assert read(tmp_path / "in.json.gz", "small", dict) == {"schema": "small", "text": "Δ", "values": [0.1, None]}
    assert as_json_gz(whole)[4:8] == bytes(4)  # the time
