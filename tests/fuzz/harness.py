"""One call: what came of it, and whether that may be."""

import io
import linecache
import re
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import fuzz.prelude

import boostplug as bp

__all__ = ["ALLOWED", "DOCUMENTED_WARNINGS", "Outcome", "outcome_of", "reproduction"]

ALLOWED = (ValueError, TypeError, OSError, ImportError)
"""What may come out of a call, for a reason; the first that fits is counted."""

DOCUMENTED_WARNINGS = (
    "values beyond float32, as Istella's 1.79769313486e+308, are read as missing (NaN)",
    "has nothing to learn from",
    "have no judgements and are left out",
    "distance does not grow strictly",
    "the functions are too rough for tables",
    "pairs have one row in this part of the data",
    "line_search=False takes the bound's own step",
    "where the framework's float32 loses digits",
    "learns nothing while",
    "so that it cannot choose the best round",
    "learns little or nothing from numbers of this size",
    "feature names, but",  # scikit-learn's own
    "The least populated class in y",  # of stratified folds: likewise
    "converting a masked element to nan",  # NumPy's own
    "Converting data to scipy sparse matrix",  # LightGBM's own
    "Early stopping is not available in dart mode",  # likewise
    "Please use categorical_feature argument of the Dataset",  # likewise
    "its trainings are not kept in store",
    "there is nothing to resume in",
    "values in categories that the training set has not",
    "single precision, in which the frameworks keep",
)
"""Texts of the warnings that the documentation promises, all of them UserWarnings."""

_FILE = "<call>"
_OWN_WARNINGS = (RuntimeWarning, PendingDeprecationWarning)  # of what a call's text itself casts, and of np.matrix
_PACKAGE = Path(bp.__file__).parent
_HERE = Path(__file__).parent
_NAMESPACE = {name: value for name, value in vars(fuzz.prelude).items() if not name.startswith("_")}


@dataclass(frozen=True)
class Outcome:
    """What came of a call.

    Attributes
    ----------
    kind : str
        "returned", the name of one of `ALLOWED`, or "else".
    defect : str
        Of "else": what is wrong, with the place in the package; alike for calls that fail alike.
    detail : str
        Of "else": the end of the traceback.
    """

    kind: str
    defect: str = ""
    detail: str = ""


def reproduction(text):
    """Return what makes a call again."""
    return f"from fuzz.prelude import *\n\n{text}\n"


def outcome_of(text):
    """Make a call, as its text says."""
    linecache.cache[_FILE] = (len(text), None, text.splitlines(keepends=True), _FILE)
    code = compile(text, _FILE, "exec")
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("always")
        try:
            exec(code, dict(_NAMESPACE))  # noqa: S102 (the text is ours)
            outcome = Outcome("returned")
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 (whatever comes out is what is looked for)
            outcome = _of_error(error)
    for warning in warned:
        if warning.filename == _FILE and warning.category in _OWN_WARNINGS:
            continue
        if outcome.kind != "returned" and "xgboost" in Path(warning.filename).parts:
            continue  # NumPy's word on a cast of XGBoost's, which then refuses
        documented = warning.category is UserWarning and any(w in str(warning.message) for w in DOCUMENTED_WARNINGS)
        if not documented and outcome.kind != "else":
            what = f"{warning.category.__name__}: {warning.message}"
            outcome = Outcome("else", f"{_class_of(what)} at {_place(warning.filename, warning.lineno)}", what)
    return outcome


def _of_error(error):
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    last = frames[-1] if frames else None
    detail = "".join(traceback.format_exception(error))[-3000:]
    where = next((f for f in reversed(frames) if Path(f.filename).is_relative_to(_PACKAGE)), last)
    place = _place(where.filename, where.lineno) if where else ""
    what = _class_of(f"{type(error).__name__}: {error}")
    kind = next((kind.__name__ for kind in ALLOWED if isinstance(error, kind)), None)
    if kind is None:
        return Outcome("else", f"{what} at {place}", detail)
    of_call = " argument" in str(error) and "unexpected keyword" not in str(error)  # of a user's function, or int()
    in_words = last is not None and (last.line.startswith("raise") or of_call)
    if last is not None and Path(last.filename).is_relative_to(_PACKAGE) and not in_words:
        return Outcome("else", f"not in our words: {what} at {place}", detail)
    if last is not None and Path(last.filename).is_relative_to(_HERE) and not last.line.startswith("raise"):
        return Outcome("else", f"the check itself: {what} at {_place(last.filename, last.lineno)}", detail)
    signature = re.search("argument|positional|keyword|callable", str(error))
    if last is not None and last.filename == _FILE and not signature:
        return Outcome("else", f"the call's own text: {what}", detail)
    return Outcome(kind)


def _class_of(message):
    """Return a message without the numbers and names that differ from call to call."""
    return re.sub(r"[\d.e+-]*\d[\d.e+-]*|'[^']*'|\[.*?\]|nan|inf", "#", message.split("\n")[0])[:160]


def _place(filename, line):
    path = Path(filename)
    for root in (_PACKAGE.parent, _HERE.parent.parent):
        if path.is_relative_to(root):
            return f"{path.relative_to(root)}:{line}"
    return f"{path.name}:{line}"
