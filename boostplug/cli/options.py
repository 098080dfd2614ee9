"""Options of a command, made from a function: names, types and defaults from its signature, help from its docstring."""

import inspect
import re
from ast import literal_eval
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer


def with_options(command: Callable[..., Any], function: Callable[..., Any], *left_out: str) -> Callable[..., Any]:
    """Return a command whose ``**arguments`` are options: the keyword-only parameters of a function.

    Parameters
    ----------
    command, function : callable
        The docstring of `function` has numpydoc's form; the first paragraph about a parameter is the option's help,
        also of an option of `command` that has none.
    *left_out : str
        Parameters that are no options.
    """
    about = _descriptions(inspect.getdoc(function) or "")
    parameters = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
    for parameter in parameters:
        (option,) = parameter.annotation.__metadata__
        option.help = option.help or about[parameter.name]
    parameters += [
        parameter.replace(annotation=_option(parameter, about[parameter.name]))
        for parameter in inspect.signature(function, eval_str=True).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in left_out
    ]

    @wraps(command)
    def call(**arguments: Any) -> Any:
        return command(**arguments)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _descriptions(doc: str) -> dict[str, str]:
    """Return the first paragraph about each parameter in a docstring."""
    sections = re.split(r"^(\w+)\n-+\n", f"{doc}\n", flags=re.MULTILINE)
    parameters = re.sub(r"(?m)^( +)- |`", r"\1", sections[sections.index("Parameters") + 1])  # without marks of lists
    entries = re.findall(r"^(\w.*?) : .*\n((?: +\S.*\n)+)", parameters, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in entries for name in names.split(", ")}


def _option(parameter: inspect.Parameter, text: str) -> Any:
    name, kind = "--" + parameter.name.replace("_", "-"), inspect.formatannotation(parameter.annotation)
    if kind == "bool":
        return Annotated[bool, typer.Option(name, help=text)]
    takes = "A=1,B=2" if _is_mapping(kind) else "A,B" if _is_list(kind) else _number(kind).__name__.upper()
    simple = isinstance(parameter.default, (str, int, float))
    names = [name, "--threads"] if name == "--num-threads" else [name]  # a short name for it
    return Annotated[Any, typer.Option(*names, parser=_parser(kind), metavar=takes, help=text, show_default=simple)]


def _parser(kind: str) -> Callable[[Any], Any]:
    """Return a function that reads a text as a value of an annotation, such as "int | None"."""

    def value(text: str) -> Any:
        try:
            return _number(kind)(text)
        except ValueError:
            if kind == "Any" or "str" in kind:
                return text
            raise

    def parse(text: Any) -> Any:
        if not isinstance(text, str):  # a default
            return text
        if text.lower() == "none" and "None" in kind:
            return None
        if _is_mapping(kind):
            return {name.strip(): _literal(given) for name, _, given in (one.partition("=") for one in words(text))}
        if not _is_list(kind):
            return value(text)
        values = tuple(map(value, words(text)))
        return values[0] if len(values) == 1 and not kind.startswith("collections.abc.") else values

    return parse


def _is_list(kind: str) -> bool:
    return any(word in kind for word in ("Iterable", "Sequence", "Any"))


def _is_mapping(kind: str) -> bool:
    return kind.startswith("collections.abc.Mapping")


def _number(kind: str) -> type:
    """Return the type of number in an annotation, str where it has none."""
    return int if re.search(r"\bint\b", kind) else float if kind == "Any" or "float" in kind else str


def _literal(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def words(text: str) -> list[str]:
    """Return the texts between commas, except commas within parentheses."""
    found, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += character
    return [word.strip() for word in found if word.strip()]
