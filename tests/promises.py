"""Which test shows each promise: `python tests/promises.py` prints the list "promise | test".

A promise is a clause of the Raises or Warns in a public docstring. `promises.json` gives the test of each: name → class
of the error or warning → clause → test, a path and a name below this folder. A clause is a piece of the docstring as it
is, and the clauses of a sentence leave only connecting words of it. Where the error leaves another name than the one
that promises it, the test is `{"that name": test}`, with "" for a name that is none of ours, or for a clause that is no
error. The name of a class stands for all its methods.

The named tests run in one process, with the options of pytest that you add, and each public function and method records
what leaves it. A promise is open, and the status 1, if it has no test, the test fails, or nothing of the promised class
leaves the name in it.
"""

import inspect
import json
import re
import sys
import threading
import warnings
from collections import defaultdict
from functools import cache, wraps
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import boostplug as bp

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_suffix(".json")
CONNECTING = {"a", "also", "an", "and", "at", "by", "for", "if", "in", "is", "of", "or", "such", "as", "the", "with"}
SPECIAL = ("__init__", "__call__", "__iter__")


# --- Promises -------------------------------------------------------------------------------------------------------


def public(module, prefix=""):
    """Yield the public functions and classes, those of the module first, each with its name."""
    found = {prefix + name: getattr(module, name) for name in module.__all__}
    yield from ((value, name) for name, value in found.items() if isinstance(value, FunctionType | type))
    for name, value in found.items():
        if isinstance(value, ModuleType):
            yield from public(value, f"{name}.")


@cache  # and not at import: the workers of Dask's cluster import this file
def names():
    """Return the first name of each public function and class, and the names of the classes that functions return."""
    found = dict(reversed([*public(bp)]))
    returned = [inspect.signature(value).return_annotation for value in found if isinstance(value, FunctionType)]
    ours = [cls for cls in returned if inspect.isclass(cls) and cls.__module__.startswith("boostplug")]
    return {cls: cls.__name__ for cls in ours} | found


def parts_of(cls):
    """Return the names of the boostplug classes from which a class inherits, and its own."""
    return {part: names().get(part, part.__name__) for part in cls.__mro__ if part.__module__.startswith("boostplug")}


def members(cls):
    """Yield the name, the value and the function of all that users call and that the class itself defines."""
    for member, value in vars(cls).items():
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        ours = isinstance(function, FunctionType) and function.__module__.startswith("boostplug")
        if ours and (not member.startswith("_") or member in SPECIAL):
            yield member, value, function


def promises():
    """Return what Raises and Warns say, by name and class: ("datasets.load_run", "ValueError") → the sentences."""
    from numpydoc.docscrape import NumpyDocString  # of the extra docs, which the default tests go without

    documented = {name: value.__doc__ for value, name in names().items() if isinstance(value, FunctionType)}
    for part, name in {k: v for cls in names() if inspect.isclass(cls) for k, v in parts_of(cls).items()}.items():
        documented[name] = vars(part).get("__doc__")
        documented |= {f"{name}.{member}": function.__doc__ for member, _, function in members(part)}
    sentences = defaultdict(str)
    for name, text in documented.items():
        parsed = NumpyDocString(inspect.cleandoc(text or ""))
        for entry in parsed["Raises"] + parsed["Warns"]:
            sentences[name, entry.type or entry.name] += " ".join([*" ".join(entry.desc).split(), ""])
    return dict(sorted(sentences.items()))


def stored():
    """Return the content of promises.json."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def faults(sentences, tests):
    """Return one text for each piece of a sentence that no clause covers, and each clause that no sentence has."""
    found = []
    for (name, error), sentence in sentences.items():
        rest = sentence
        for clause in sorted(tests.get(name, {}).get(error, {}), key=len, reverse=True):
            if clause not in rest:
                found.append(f"{name}: {error}: the docstring does not have the clause {clause!r}")
            rest = rest.replace(clause, "|", 1)
        pieces = [part.strip() for part in rest.split("|") if {*re.findall(r"\w+", part.lower())} - CONNECTING]
        found += [f"{name}: {error}: promises.json has no test for {piece!r}" for piece in pieces]
    given = [(name, error) for name, of_name in tests.items() for error in of_name]
    return found + [
        f"{name}: {error} is not in the docstring" for name, error in given if (name, error) not in sentences
    ]


# --- Tests ----------------------------------------------------------------------------------------------------------


class Recorder:
    """A plugin of pytest that records which errors and warnings leave which public names in each test."""

    def __init__(self, tests):
        self.tests = tests
        self.test = ""
        self.seen = defaultdict(set)  # by test: names and classes
        self.passed = defaultdict(lambda: True)
        self.calls = threading.local()  # the names of the calls that are going on

    def pytest_collection_modifyitems(self, items):
        """Leave only the named tests, those without parameters with all of these."""
        items[:] = [item for item in items if {item.nodeid, item.nodeid.partition("[")[0]} & self.tests]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.test = item.nodeid
        return (yield)

    def pytest_runtest_logreport(self, report):
        self.passed[report.nodeid] &= report.passed

    def note(self, names, kind):
        self.seen[self.test] |= {(name, cls.__name__) for name in names for cls in kind.__mro__}

    def recording(self, function, names_of):
        """Return the function with a record of what leaves it. `names_of` returns its names for its arguments."""

        @wraps(function)
        def call(*args, **keywords):
            own, before = names_of(args), getattr(self.calls, "names", ())
            self.calls.names = (*before, own)
            try:
                return function(*args, **keywords)
            except Exception as error:
                self.note(own, type(error))
                raise
            finally:
                self.calls.names = before

        @wraps(function)
        def iterate(*args, **keywords):
            try:
                yield from function(*args, **keywords)
            except Exception as error:
                self.note(names_of(args), type(error))
                raise

        return iterate if inspect.isgeneratorfunction(function) else call

    def install(self):
        """Put recording functions in the place of the public ones, and of `warnings.warn`."""
        modules = [vars(module) for name, module in sys.modules.items() if name.partition(".")[0] == "boostplug"]
        for value, name in names().items():
            if isinstance(value, FunctionType):
                function = self.recording(value, lambda _, name=name: [name])
                for module in modules:
                    module.update({key: function for key, held in module.items() if held is value})
        for cls in {part for value in names() if inspect.isclass(value) for part in parts_of(value)}:
            for member, value, function in [*members(cls)]:

                def names_of(args, cls=cls, member=member):
                    first = args[0] if args and inspect.isclass(args[0]) else type(args[0]) if args else cls
                    parts = parts_of(first if issubclass(first, cls) else cls).values()
                    return [*parts, *(f"{part}.{member}" for part in parts)]

                recording = self.recording(function, names_of)
                setattr(cls, member, recording if value is function else type(value)(recording))
        warn = warnings.warn

        @wraps(warn)
        def recording_warn(message, category=None, stacklevel=1, **keywords):
            kind = type(message) if isinstance(message, Warning) else category or UserWarning
            for own in getattr(self.calls, "names", ()):
                self.note(own, kind)
            warn(message, category, stacklevel + 1, **keywords)

        warnings.warn = recording_warn

    def shows(self, test, name, error):
        """Return whether the test, or each test of its parameters, passes and raises the class out of the name."""
        ids = [one for one in self.passed if test in (one, one.partition("[")[0])]
        raised = (name, error.rpartition(".")[2])
        return bool(ids) and all(self.passed[one] and (not name or raised in self.seen[one]) for one in ids)


def main():
    """Print the list, then what is open. Return the number of open promises."""
    found, rows = faults(promises(), stored()), []
    for name, of_name in stored().items():
        for error, of_error in of_name.items():
            for clause, test in of_error.items():
                ((source, where),) = test.items() if isinstance(test, dict) else [(name, test)]
                rows.append((f"{name}: {error}: {clause}", f"tests/{where}", source, error))
    recorder = Recorder({test for _, test, _, _ in rows})
    recorder.install()
    files = dict.fromkeys(test.partition("::")[0] for _, test, _, _ in rows)
    paths = [str(ROOT / file) for file in files if (ROOT / file).is_file()]
    pytest.main(["-q", "-m", "not benchmark", "-p", "no:cacheprovider", *sys.argv[1:], *paths], plugins=[recorder])
    for promise, test, source, error in rows:
        print(f"{promise} | {test}")
        if not recorder.shows(test, source, error):
            found.append(f"{promise}: {test} fails, or does not raise it out of {source or 'its call'}")
    print(f"{len(rows)} promises, {len(found)} open", *found, sep="\n")
    return len(found)


if __name__ == "__main__":
    sys.exit(bool(main()))
