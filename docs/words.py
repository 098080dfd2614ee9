"""Sentence lengths of the documentation: `python docs/words.py [PAGE …]`.

Prints words per sentence and semicolons for each page and for all, then the ten worst sentences. It only informs.
Code, tables, headings and pictures are not counted. A colon before a list or a block of code ends a sentence.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("guides", "tutorials")
AIM = 12  # words
N_WORST = 10
# What ends a sentence, then a space and what may begin one. Not after these.
_END = re.compile(r"(?<=[.!?])[*)\"”]*\s+(?=[*(\"“]*[A-Z`±Δ0-9])")
_ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|et al|vs|Fig|Eq|No)\.$")


def pages() -> list[Path]:
    """Return the README, the guides and the tutorials."""
    return [ROOT / "README.md", *(path for folder in FOLDERS for path in sorted((ROOT / "docs" / folder).glob("*.md")))]


def prose(text: str) -> str:
    """Return a page without code blocks, tables, headings, comments and pictures, and links as their texts."""
    text = re.sub(r"^```.*?^```", "\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]+(?:\n[^`\n]+)?`", "`code`", text)  # a name in code is one word
    text = re.sub(r"^:::.*$|^:[\w-]+:.*$|^\+\+\+$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)|<[^>]+>", "", text, flags=re.DOTALL)
    text = re.sub(r"^(?:#|\||\s*\$\$).*$", "\n", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page."""
    items = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s+", prose(text), flags=re.MULTILINE)
    for item in items:
        kept = ""
        for piece in _END.split(" ".join(item.split())):
            kept = f"{kept} {piece}".strip()
            if not _ABBREVIATIONS.search(kept):
                yield from filter(words, [kept])
                kept = ""
        yield from filter(words, [kept])


def words(sentence: str) -> int:
    """Return the number of words of a sentence."""
    return len(re.findall(r"[^\W_][\w'’.,±-]*|±", sentence))


def main(names: list[str]) -> None:
    """Print the figures."""
    every: list[tuple[int, str, str]] = []
    n_semicolons = 0
    print(f"{'words':>7} {'a sentence':>10} {'semicolons':>10}")
    for page in [Path(name).resolve() for name in names] or pages():
        text = page.read_text(encoding="utf-8")
        found = [(words(sentence), str(page.relative_to(ROOT)), sentence) for sentence in sentences(text)]
        semicolons = prose(text).count(";")
        line(found, semicolons, str(page.relative_to(ROOT)))
        every += found
        n_semicolons += semicolons
    line(every, n_semicolons, f"all (aim: {AIM} words a sentence)")
    print("\nThe longest sentences:")
    for length, page_name, sentence in sorted(every, reverse=True)[:N_WORST]:
        print(f"{length:4} {page_name}: {sentence}")


def line(found: list[tuple[int, str, str]], semicolons: int, name: str) -> None:
    """Print the figures of some sentences."""
    total = sum(length for length, _, _ in found)
    print(f"{total:7,} {total / max(len(found), 1):10.1f} {semicolons:10} {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
