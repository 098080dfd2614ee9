"""Source text of arguments, valid and hostile: a call is drawn as the Python that makes it, so that it can be printed.

A part of a call (labels, weights, a parameter, …) is valid, though seldom pleasant, unless the dice spoil it: of most
calls one part is hostile, of some none or two.
"""

from functools import lru_cache

from hypothesis import strategies as st

__all__ = ["HOSTILE", "Dice", "Ranking", "arguments", "array", "calls", "chosen", "numbers_text"]

_MOST_PARTS = 9  # a part further on is spoilt as seldom as the last of these


@lru_cache
def _below(n):
    return st.integers(0, n - 1)


class Dice:
    """What a call is drawn with; smaller numbers are the simpler choices."""

    def __init__(self, draw):
        self._draw = draw
        self._n_parts = 0
        self._spoilt = {self.below(_MOST_PARTS) for _ in range(self.one((1, 1, 1, 0, 2)))}

    def below(self, n):
        return self._draw(_below(n))

    def one(self, options):
        return options[self.below(len(options))]

    def percent(self, p):
        """Whether something happens that does in p of 100 cases; False is the simpler one."""
        return self.below(100) >= 100 - p

    def several(self, most, least=0):
        return least + self.below(most - least + 1)

    def subset(self, options, percent):
        return [option for option in options if self.percent(percent)]

    def calm(self):
        """Spoil nothing further."""
        self._spoilt = set()

    def spoils(self):
        """Whether the next part is hostile."""
        self._n_parts += 1
        return (self._n_parts - 1) % _MOST_PARTS in self._spoilt


def calls(build):
    """Return a strategy of calls, each a text, from a function of dice."""

    @st.composite
    def strategy(draw):
        return build(Dice(draw))

    return strategy()


# Values of any kind, in place of what a parameter expects

HOSTILE = (
    "None",
    "True",
    "np.True_",
    "0",
    "-1",
    "1",
    "2",
    "2.5",
    "0.5",
    "-0.0",
    "np.nan",
    "np.inf",
    "-np.inf",
    "1e308",
    "-1e308",
    "5e-324",
    "1e-300",
    "1e16",
    "2**63",
    "-2**70",
    "10**400",
    "np.int64(2)",
    "np.int8(3)",
    "np.uint64(2**64 - 1)",
    "np.float32(0.5)",
    "np.float16(2)",
    "np.longdouble(1)",
    "Fraction(1, 2)",
    "Fraction(10**400, 3)",
    "Decimal('0.5')",
    "1j",
    "''",
    "'x'",
    "'none'",
    "'NEWTON'",
    "np.str_('rows')",
    "b'rows'",
    "'\\x00'",
    "()",
    "[]",
    "{}",
    "[1.0, 2.0]",
    "{'a': 1}",
    "{1, 2}",
    "np.array(1.0)",
    "np.array([1.0, 2.0])",
    "np.array(['none', 'rows'])",
    "np.zeros((2, 2))",
    "np.array([], dtype=float)",
    "np.ma.masked",
    "np.ma.array([1.0, 2.0], mask=[0, 1])",
    "pd.Series([1.0, 2.0])",
    "pd.DataFrame({'a': [1.0]})",
    "pd.NA",
    "pd.NaT",
    "np.datetime64('2020-01-01')",
    "object()",
    "object",
    "int",
    "len",
    "np.sqrt",
    "(lambda x: x)",
    "(lambda x: np.nan)",
    "nothing",
    "refusing",
    "too_long",
    "range(3)",
    "iter([1, 2])",
    "bp.NDCG",
    "bp.NDCG(3)",
    "bp.MPBoost",
    "bp.MPBoost()",
    "bp.RankNet",
    "bp.LogDistance(lam=1.0)",
    "bp.LogDistance",
    "bp.Queries([1, 0], group=[2])",
    "bp.Pairs([0], [1])",
)

# Containers that mean the same as a list: {0} is the list's text.
_SAME = (
    "{0}",
    "np.array({0})",
    "tuple({0})",
    "np.array({0}, dtype=np.float64)",
    "read_only({0})",
    "backwards({0})",
    "strided({0})",
    "np.array({0}, dtype='>f8')",
    "np.array({0}, dtype=object)",
    "np.ma.array({0})",
    "pd.Series({0})",
    "pd.Series({0}, index=np.arange(len({0}))[::-1])",
    "pd.Series({0}).to_frame()[0]",
    "pd.Series({0}, index=['a'] * len({0}))",
    "pd.Series({0}, index=pd.Index([None] * len({0})))",
    "pd.Series({0}, index=[1, '1', 1.5, *map(str, range(len({0})))][: len({0})])",
    "pd.Series({0}, index=pd.MultiIndex.from_product([range(len({0})), ['x']]))",
    "pd.Series({0}, index=pd.date_range('2020', periods=len({0})))",
    "pl.Series({0})",
    "pa.array({0})",
    "pa.chunked_array([{0}])",
    "array('d', {0})",
    "memoryview(np.array({0}, dtype=np.float64))",
    "np.array({0}).view(Subclass)",
)
# … and of less precision or range.
_COARSER = (
    "np.array({0}, dtype=np.float32)",
    "np.array({0}, dtype=np.float32)",
    "np.array({0}, dtype=np.float16)",
    "np.array({0}, dtype=np.longdouble)",
    "np.array({0}, dtype=np.float64).astype(np.int8)",
    "np.array({0}, dtype=np.float64) > 0",
)
_OTHER = (
    "None",
    "[]",
    "3.0",
    "-1",
    "'abc'",
    "b'abc'",
    "object()",
    "{0}[:-1]",
    "{0} + {0}",
    "[{0}]",
    "[{0}, {0}[:-1]]",
    "np.array({0})[:, None]",
    "np.array({0})[None, :]",
    "np.array({0}, dtype=float).reshape(-1, 1, 1)",
    "np.array(5.0)",
    "np.zeros((0, 3))",
    "np.array({0}, dtype=float) + 1j",
    "np.array({0}).astype(str)",
    "np.array({0}, dtype=float).astype(str).astype(object)",
    "np.array({0}, dtype=float).astype('S8')",
    "np.arange(len({0})).astype('M8[s]')",
    "np.arange(len({0})).astype('m8[s]')",
    "np.zeros(len({0}), dtype=[('a', 'f8')])",
    "np.array([None] * len({0}))",
    "np.array([[]] * len({0}), dtype=object)",
    "[{{}}] * len({0})",
    "[[1.0]] * len({0})",
    "np.ma.masked_all(len({0}))",
    "np.ma.masked_less(np.array({0}, dtype=float), 1)",
    "pd.Series({0}, dtype='float64').mask([True] * len({0}))",
    "pd.Series([1] * len({0}), dtype='Int64').mask([True] * len({0}))",
    "pd.Series({0}, dtype='string')",
    "pd.Series(pd.Categorical({0}))",
    "pd.DataFrame({{'a': {0}}})",
    "pl.DataFrame({{'a': {0}}})",
    "pa.array([None] * len({0}))",
    "pa.table({{'a': {0}}})",
    "scipy.sparse.csr_array(np.array([{0}], dtype=float))",
    "set({0})",
    "dict.fromkeys({0})",
    "iter({0})",
    "(x for x in {0})",
    "map(float, {0})",
    "range(len({0}))",
    "np.matrix({0})",
    "np.nan",
    "len",
    "bp.NDCG(3)",
    "lgb.Dataset",
)
_NAUGHTY = (
    *("np.nan", "np.inf", "-np.inf", "1e308", "-1e308", "5e-324", "-0.0", "1e40", "-1e39", "1e200", "1e-200"),
    *("2**53", "2**63", "2**64", "10**400", "-1", "0.5", "1e6", "1e-7", "True", "None", "'a'", "'1'", "b'1'", "1j"),
    *("np.float16(1)", "np.float32(0.1)", "np.longdouble(1)", "np.timedelta64(1, 's')", "Fraction(1, 3)"),
    *("Decimal('0.1')", "[]", "[1.0]", "np.array(1.0)", "np.array([1.0])", "np.ma.masked", "pd.NA", "pd.NaT"),
)


def numbers_text(values):
    return f"[{', '.join(values)}]"


def array(dice, values, *, coarser=True, spoilt=None):
    """Return an array-like of the numbers (as texts): spoilt in a value, in kind or in length where the dice say so."""
    if dice.spoils() if spoilt is None else spoilt:
        if values and dice.percent(50):
            at = dice.below(len(values))
            values = [*values[:at], dice.one(_NAUGHTY), *values[at + 1 :]]
            kind = dice.one(("{0}", "np.array({0}, dtype=object)"))
            return kind.format(numbers_text(values))
        return dice.one(_OTHER).format(numbers_text(values))
    if not values:
        return dice.one(("[]", "()", "np.zeros(0)", "pd.Series([], dtype=float)", "np.zeros(0, np.float32)"))
    kinds = _SAME + _COARSER if coarser else _SAME
    kind = dice.one(("{0}", "np.array({0})", None))
    return (dice.one(kinds) if kind is None else kind).format(numbers_text(values))


def arguments(dice, values):
    """Return the text of keyword arguments: some of `values`, one of them spoilt at times."""
    return ", ".join(f"{name}={text}" for name, text in chosen(dice, values).items())


def chosen(dice, values):
    """Return some of `values`, a mapping of names to texts, each with one of its texts, or a hostile one."""
    given = {name: dice.one(options) for name, options in values.items() if dice.percent(40)}
    if values and dice.spoils():
        given[dice.one(tuple(values))] = dice.one(HOSTILE)
    return given


# Ranking data

_GRADES = (
    tuple(map(str, range(5))),
    ("0", "1"),
    ("0.5", "1.25", "2.0", "0.1", "0.3", "0.7"),
    ("-2", "-1", "0", "3"),
    ("1e-5", "2e-5", "5e-5"),
    ("1e-17", "3e-17", "0"),
    ("1e-38", "2e-38", "0"),
    ("1e5", "2e5", "1000001"),
    ("1e15", "2e15", "0"),
    ("1e30", "2e30", "-3e30"),
    ("1e100", "0", "2e100"),
    ("0.1", "0.1 + 1e-15", "0.2", "0.30000000000000004", "0.3"),
    ("7",),
)
_WEIGHTS = (
    ("1.0",),
    ("0", "1", "2.5"),
    ("0.25", "4.0"),
    ("0",),
    ("1e-4", "2e-4"),
    ("1e-30", "3e-30"),
    ("1e30", "2e30"),
    ("1e-12", "1", "1e12"),
    ("1e-300", "1e-290"),
    ("1e300", "1e290"),
    ("5e-324", "1.0"),
)
_SCORES = (
    ("0.0",),
    ("0.0", "1.0", "-1.0", "0.5", "2.25", "-0.75"),
    ("1", "2"),
    ("0.1", "0.2", "0.30000000000000004", "0.3", "-0.0", "0.0"),
    ("30.0", "-30.0", "3.0"),
    ("1000.0", "-1000.0", "999.0"),
    ("1e6", "-1e6", "1e6 + 1e-9"),
    ("1e99", "-1e99", "1e-99"),
    ("5e-324", "-5e-324", "0.0"),
    ("1e16", "1e16 + 2"),
)
_SIZES = (
    *((3,), (2, 3), (1,), (4, 1), (1, 1), (0, 3), (3, 0, 2), (5, 2, 0, 1), (6,), (2, 2, 2, 2), (0,), (), (8, 5)),
    *((12,), (40,)),
)


class Ranking:
    """Queries as texts: sizes, grades and what goes with them, each part spoilt where the dice say so."""

    def __init__(self, dice, *, sizes=None, grades=None):
        self.dice = dice
        self.sizes = dice.one(_SIZES) if sizes is None else sizes
        self.n = sum(self.sizes)
        self.grades = dice.one(_GRADES) if grades is None else grades

    def values(self, pool, n=None):
        return [self.dice.one(pool) for _ in range(self.n if n is None else n)]

    def labels(self):
        return array(self.dice, self.values(self.grades))

    def scores(self, **options):
        return array(self.dice, self.values(self.dice.one(_SCORES)), **options)

    def weight(self, pool=None):
        n = self.n if self.dice.percent(60) else len(self.sizes)
        return array(self.dice, self.values(pool or self.dice.one(_WEIGHTS), n), coarser=False)

    def labelled(self):
        values = self.values(("True", "False", "True"))
        if self.dice.spoils():
            return self.dice.one((*_OTHER, "np.ones(len({0}))", "['a'] * len({0})")).format(numbers_text(values))
        return self.dice.one(("np.array({0}, dtype=bool)", "pd.Series({0}, dtype=bool)")).format(numbers_text(values))

    def group(self):
        sizes = [str(size) for size in self.sizes]
        if self.dice.spoils():
            other = numbers_text(sizes)
            return self.dice.one(
                (
                    *(f"[{', '.join(['1', *sizes])}]", f"{other}[1:]", f"[-1, {self.n + 1}]", f"[0.5, {self.n - 0.5}]"),
                    *(f"[2**62] * 4 + {other}", f"[2**52] * 4096 + {other}", "[2**53] * 3", f"[{self.n} + 2**64]"),
                    *("[np.nan]", "[np.inf]", "[1e300]", "['3']", f"{self.n}", f"[{self.n}, None]"),
                    f"np.array([2**64 - 1, {self.n + 1}], dtype=np.uint64)",
                    f"np.array([2**63 - 1, 2**63 - 1, {self.n + 2}], dtype=np.int64)",
                    f"[-(2**63), 2**63, {self.n}]",
                    *(kind.format(other) for kind in _OTHER),
                )
            )
        return array(self.dice, sizes, coarser=False, spoilt=False)

    def qid(self):
        kind = self.dice.one(("{}", "7 * {}", "2**32 * {}", "-{}", "{} / 7", "'q{}'", "2**62 + {}", "'\\x00' * {}"))
        ids = [kind.format(q) for q, size in enumerate(self.sizes, 1) for _ in range(size)]
        if self.dice.spoils():
            text = numbers_text(ids)
            other = self.dice.one([odd for odd in _OTHER if "float" not in odd or "'" not in kind])
            naughty = self.dice.one(_NAUGHTY)
            return self.dice.one(
                (
                    *(f"{text}[:-1]", f"{text} + [1]", f"[{naughty}] + {text}[1:]", f"{text}[:-1] + [{naughty}]"),
                    *(f"{text}[-1:] + {text}[1:]", f"[1, 'a'] + {text}[2:]", f"[(1, 2)] * {self.n}", f"{text}[0:1]"),
                    f"pd.Series(pd.date_range('2020', periods={self.n}))",
                    f"pd.Series([pd.NA] * {self.n}, dtype='Int64')",
                    *([other.format(text)] * 8),
                )
            )
        text = numbers_text(ids)
        kinds = ("{0}", "np.array({0})", "pd.Series({0})", "np.array({0}, dtype=object)", "pl.Series({0})")
        return self.dice.one(kinds).format(text) if ids else "[]"

    def of_queries(self):
        """Return which argument says the queries, and its text."""
        return self.dice.one((("group", self.group), ("qid", self.qid)))

    def pairs(self):
        if self.n < 2:
            return "bp.Pairs([], [])"
        if self.dice.spoils():
            return self.dice.one(
                (
                    *("bp.Pairs([0], [0])", f"bp.Pairs([0], [{self.n}])", "bp.Pairs([2**62], [1])", "([0], [1])"),
                    *("bp.Pairs([-1], [0])", "bp.Pairs([], [])", "bp.Pairs", "[[0, 1]]", "{'winner': [0]}"),
                )
            )
        n = self.dice.several(6, 1)
        winner = [self.dice.below(self.n) for _ in range(n)]
        loser = [(w + 1 + self.dice.below(self.n - 1)) % self.n for w in winner]
        more = ""
        if self.dice.percent(40):
            more += f", weight={numbers_text(self.values(self.dice.one(_WEIGHTS), n))}"
        if self.dice.percent(40):
            pool = self.dice.one((("1.0", "2.0"), ("0.1", "3"), ("1e-9",), ("1e9", "1"), ("1e-300", "1e300")))
            more += f", margin={numbers_text(self.values(pool, n))}"
        return f"bp.Pairs({winner}, {loser}{more})"

    def queries(self, *, pairs=None, weight=None):
        """Return the text of a `Queries`; `pairs` and `weight`: in how many of 100 cases it has them."""
        name, text = self.of_queries()
        given = [self.labels(), f"{name}={text()}"]
        if self.dice.percent(30 if weight is None else weight):
            given.append(f"weight={self.weight()}")
        if self.dice.percent(15):
            given.append(f"labelled={self.labelled()}")
        if self.dice.percent(20 if pairs is None else pairs):
            given.append(f"pairs={self.pairs()}")
            if self.dice.percent(30):
                given[0] = "None"
        return f"bp.Queries({', '.join(given)})"

    def features(self, n_features=2):
        """Return the text of an X of these rows."""
        pool = self.dice.one(
            (
                ("0.0", "1.0", "2.0", "-1.0", "0.5"),
                ("0.0", "1.0", "np.nan", "3.5"),
                ("1e30", "-1e30", "0.0", "1e-30"),
                ("5e-324", "0.0", "1e-40"),
                ("0.1", "0.1 + 1e-12", "0.1 + 1e-9"),
                ("2.0",),
                ("np.nan",),
            )
        )
        rows = [numbers_text(self.values(pool, n_features)) for _ in range(self.n)]
        text = f"np.array({numbers_text(rows)}, dtype=float).reshape(-1, {n_features})"
        if self.dice.spoils():
            naughty = self.dice.one(_NAUGHTY)
            return self.dice.one(
                (
                    *(f"spoilt({text}, {naughty})", f"{text}[:-1]", f"{text}[:, :0]", f"{text}[:0]", f"{text}.ravel()"),
                    *(
                        f"{text}[:, :, None]",
                        f"{text} + 1j",
                        f"{text}.astype(str)",
                        f"{text} * 1e38",
                        f"{text} * 1e306",
                    ),
                    *(f"pd.DataFrame({text}).assign(qid=1)", f"pd.DataFrame({text}, columns=['a', 'a'])", "None", "5"),
                    *(f"pd.DataFrame({text}, columns=['qid', 'qid'])", f"pd.DataFrame({text}).astype(str)", "'abc'"),
                    *(
                        f"{text}.T",
                        f"[{text}]",
                        f"{text}.astype('M8[s]')",
                        "[]",
                        "[[]]",
                        "np.zeros((0, 0))",
                        "object()",
                    ),
                    *(f"np.ma.masked_invalid({text})", f"np.ma.masked_less({text}, 1)", f"iter({text})"),
                    *(f"scipy.sparse.csr_array({text})", f"scipy.sparse.coo_matrix({text})"),
                    *(f"pa.table({{'qid': [1] * {self.n}}})", f"pl.DataFrame({{'qid': [1] * {self.n}}})"),
                )
            )
        return self.dice.one(
            (
                *(text, text, text, f"{text}.tolist()", f"{text}.astype(np.float32)", f"np.asfortranarray({text})"),
                *(f"{text}.astype('>f8')", f"strided({text})", f"read_only({text})", f"{text}.astype(np.float16)"),
                *(f"pd.DataFrame({text}, columns=['a', 'b'][:{n_features}])", f"pd.DataFrame({text})"),
                *(
                    f"{text}.astype(object)",
                    f"{text} > 0",
                    f"pd.DataFrame({text}, columns=['a b', '{{x}}'][:{n_features}])",
                ),
            )
        )
