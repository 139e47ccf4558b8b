"""Generates the reference: a page for each public module, and one each for functions in kernels, options, errors and
commands. `pages()` returns them as Markdown, by their place in the documentation.

The text comes from docstrings, the operation table, the frontend's rules, `sv.init` and the command-line parser.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from docstrings import as_markdown, in_a_cell, without_examples
from public_names import (
    Member,
    PublicName,
    all_names,
    error_classes,
    first_sentence,
    handles,
    names_of,
    public_modules,
    signature_of,
    spelled,
)

import samovar as sv

FOLDER = "reference"
GENERATED = "<!-- Written by tools/documentation/reference.py. -->"
#: The pages beside those of modules.
FUNCTIONS, OPTIONS, ERRORS, COMMANDS, INDEX = (
    f"{FOLDER}/{name}.md" for name in ("kernel-functions", "options", "errors", "command-line", "index")
)
#: Native modules describe their purpose, not their contents for users.
TITLES = {"samovar._native": "Common interface of arrays and fields"}
#: The operand rules of the operation table, in words.
RULES = {
    "same": "numbers; both promote to one type, which is that of the result",
    "compare": "numbers; the result is u1",
    "float": "floats; integers are converted to floats",
    "int": "integers and u1",
}


def pages() -> dict[str, str]:
    """Place → text of every page."""
    found = {INDEX: index_page(), FUNCTIONS: functions_page(), OPTIONS: options_page(), ERRORS: errors_page()}
    found[COMMANDS] = commands_page()
    for module in public_modules():
        found[page_of_module(module)] = module_page(module)
    return found


def page_of_module(module: str) -> str:
    return f"{FOLDER}/{module.replace('.', '-')}.md"


def page_of(name: PublicName) -> str:
    """The page of a name."""
    if name.kind == "error":
        return ERRORS
    if name.kind == "module":
        return page_of_module(name.value.__name__)
    return page_of_module(name.module)


def link_to(name: PublicName) -> str:
    page = page_of(name).removeprefix(f"{FOLDER}/")
    return f"[`{name.path}`]({page})" if name.kind == "module" else f"[`{name.path}`]({page}#{name.anchor})"


def index_page() -> str:
    rows = [(link_to(name), name.summary) for name in all_names()]
    count = len(rows)
    return "\n".join(
        [
            "# All names", "", GENERATED, "",
            f"The {count} public names, each with its page. See also [functions in kernels](kernel-functions.md), "
            "[options](options.md), [errors](errors.md), [commands](command-line.md) and "
            "[environment variables](../environment.md).", "",
            *table(("name", "description"), rows),
        ]
    )  # fmt: skip


def module_page(module: str) -> str:
    """The names of a module; those of the package in sections, by defining module."""
    text = importlib.import_module(module).__doc__ or ""
    title = "The package: `sv`" if module == "samovar" else f"`{spelled(module)}`"
    lines = [f"# {title}", "", GENERATED, "", as_markdown(text), ""]
    names = [name for name in names_of(module) if name.kind not in ("module", "error")]
    if module == "samovar":
        names += handles()
    dtypes = [name for name in names if name.kind == "dtype"]
    if dtypes:
        lines += ["## Dtypes", "", *table(("dtype", "values"), ((placed(name), name.text) for name in dtypes)), ""]
    sections: dict[str, list[PublicName]] = {f"samovar.{home}": [] for home in sv._HOMES} if module == "samovar" else {}
    for name in names:
        if name.kind != "dtype":
            sections.setdefault(name.home, []).append(name)
    for home, members in sections.items():
        if members and module == "samovar":
            lines += [f"## {section_title(home)}", ""]
        lines += section(members, 3 if module == "samovar" else 2)
    return "\n".join(lines)


def section(names: list[PublicName], level: int) -> list[str]:
    """Names in sequence; plain values that share a text as a table."""
    lines: list[str] = []
    plain = [name for name in names if name.kind == "value"]
    texts = [name.text for name in plain]
    for name in names:
        if name not in plain or (texts.count(name.text) == 1 and ">>>" in name.text):
            lines += described(name, level)
    for text in dict.fromkeys(text for text in texts if texts.count(text) > 1):
        alike = " ".join(placed(name) for name in plain if name.text == text)
        lines += [as_markdown(text), "", alike, ""]
    single = [name for name in plain if texts.count(name.text) == 1 and ">>>" not in name.text]
    return [*lines, *table(("value", ""), ((placed(name), name.text) for name in single)), ""] if single else lines


def placed(name: PublicName) -> str:
    """A name in a table or a line, as a link target."""
    return f'<span id="{name.anchor}">`{name.path}`</span>'


def section_title(home: str) -> str:
    """The title: the first clause of the module's docstring."""
    if home in TITLES:
        return TITLES[home]
    text = importlib.import_module(home).__doc__ or home
    return re.sub(r"[.:;,]$", "", re.split(r"(?<=[a-z`)])[.:;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0])


def described(name: PublicName, level: int) -> list[str]:
    lines = [f"{'#' * level} `{name.path}{name.signature}` {{ #{name.anchor} data-toc-label='{name.name}' }}", ""]
    lines += [as_markdown(name.text), ""]
    members = [member for member in name.members if member.text or member.name]
    if members:
        lines += [*table(("member", ""), ((f"`{each.name}{each.signature}`", member_text(each)) for each in members)), ""]
    return lines


def member_text(member: Member) -> str:
    return without_examples(member.text)


def table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [
        f"| {' | '.join(headings)} |",
        f"|{'---|' * len(headings)}",
        *(f"| {' | '.join(in_a_cell(cell) for cell in row)} |" for row in rows),
    ]


# --- functions in kernels


def kernel_functions() -> dict[str, list[tuple[str, str, str]]]:
    """Module → canonical name, parameters and description of each function that kernels can call."""
    from samovar.frontend.intrinsics import INTRINSICS
    from samovar.language import REGISTRY, is_library_function
    from samovar.language.operations import OPERATIONS

    rows = {spelling: row for row in OPERATIONS.values() for spelling in row.spellings}
    library = [name for name in REGISTRY if is_library_function(name)]
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name in sorted({*INTRINSICS, *library}):
        home = name.rpartition(".")[0]
        parameters = getattr(INTRINSICS.get(name), "parameters", None)
        text = meaning_of(name, rows[name].meaning if name in rows else "", REGISTRY)
        found.setdefault(home, []).append((name, parameters_text(name, parameters, REGISTRY), text))
    return found


def meaning_of(name: str, meaning: str, registry: dict[str, Any]) -> str:
    """The description of a function: from its row, or from its docstring."""
    if meaning:
        return first_sentence(meaning)
    if not name.startswith("samovar."):
        return "as in Python" if name.partition(".")[0] in ("builtins", "math") else f"as in {name.partition('.')[0]}"
    return first_sentence(getattr(registry.get(name) or named(name), "__doc__", None) or "")


def named(name: str) -> Any:
    """The object of a full name: a function of a module, or of a class in one."""
    home, _, last = name.rpartition(".")
    try:
        owner = importlib.import_module(home)
    except ImportError:
        owner = named(home)
    return getattr(owner, last, None)


def parameters_text(name: str, parameters: Any, registry: dict[str, Any]) -> str:
    if isinstance(parameters, str):
        parameters = parameters.split()
    if parameters is not None:
        return ", ".join(f"{each[:-1]}=…" if each.endswith("?") else each for each in map(str, parameters))
    value = registry.get(name)
    return signature_of(value).strip("()") if value is not None else "…"


def functions_page() -> str:
    also = "Kernels also call funcs, and anything inside `sv.static(...)`."
    lines = ["# Functions in kernels", "", GENERATED, "", also, ""]
    titles = {"samovar": "`sv`", "builtins": "Python builtins", "math": "Python's module `math`", "numpy": "NumPy"}
    for home, functions in kernel_functions().items():
        lines += [f"## {titles.get(home, f'`{spelled(home)}`')}", ""]
        spelling = (lambda name: name.removeprefix("builtins.")) if home == "builtins" else spelled
        lines += table(("call", "description"), ((f"`{spelling(n)}({p})`", text) for n, p, text in functions))
        lines.append("")
    lines += ["## Operators", "", *operator_rows(), ""]
    lines += ["## Methods of vectors and matrices", "", *method_rows(), ""]
    return "\n".join(lines)


def operator_rows() -> list[str]:
    from samovar.language.operations import OPERATIONS

    rows = ((f"`a {row.sign} b`", row.meaning, RULES[row.rule]) for row in OPERATIONS.values() if row.sign)
    return table(("operator", "description", "operands"), rows)


def method_rows() -> list[str]:
    from samovar.frontend.matrix_methods import METHODS

    def text(name: str) -> str:
        return first_sentence(getattr(getattr(sv.Matrix, name, None), "__doc__", None) or "")

    return table(("method", "description"), ((f"`.{name}()`", text(name)) for name in sorted(METHODS)))


# --- options


def option_texts() -> dict[str, str]:
    """Option → its description in the docstring of `sv.init`."""
    found: dict[str, str] = {}
    items = re.findall(r"^\s*- (`.+?)(?=\n\s*- `|\n\s*\n)", sv.init.__doc__ or "", re.DOTALL | re.MULTILINE)
    for item in items:
        names, _, text = " ".join(item.split()).partition(": ")
        for name in re.findall(r"`(\w+)`", names):
            found[name] = text
    return found


def options() -> dict[str, Any]:
    from samovar.language import DEFAULTS

    return dict(DEFAULTS)


def options_page() -> str:
    from samovar.runtime.configuration import CHOICES

    texts = option_texts()
    rows = []
    for name, default in options().items():
        choices = ", ".join(f"`{shown(choice)}`" for choice in CHOICES.get(name, ()))
        text = texts.get(name, "")
        meaning = f"{text}. One of {choices}" if choices else text
        rows.append((f"`{name}`", f"`{shown(default)}`", f"`SAMOVAR_{name.upper()}`", meaning))
    return "\n".join(
        [
            "# Options", "", GENERATED, "",
            "Set options with `sv.init(option=value)` or through the environment.",
            "",
            *table(("option", "default", "environment variable", "meaning"), rows),
        ]
    )  # fmt: skip


def shown(value: Any) -> str:
    return str(value).replace("samovar.", "sv.") if isinstance(value, type(sv.f32)) else repr(value)


# --- errors


def errors_page() -> str:
    lines = ["# Errors and warnings", "", GENERATED, ""]
    names = error_classes()
    of_class = {name.value: name for name in names}
    for name in names:
        lines += described(name, 2)
        bases = [of_class[base] for base in name.value.__mro__[1:] if base in of_class]
        builtin = next(base.__name__ for base in name.value.__mro__ if base.__module__ == "builtins")
        listed = [f"[`{base.path}`](#{base.anchor})" for base in bases] + [f"`{builtin}`"]
        lines += [f"Subclass of {', '.join(listed)}.", ""]
    return "\n".join(lines)


# --- commands


def commands_page() -> str:
    from samovar.cli import command_line

    lines = ["# The command `samovar`", "", GENERATED, "", "`python -m samovar` is the same.", ""]
    for parser in parsers(command_line._parser()):
        parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100)
        lines += [f"## `{parser.prog}`", "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of its commands, each once."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in dict.fromkeys(action.choices.values()):
                yield from parsers(each)
