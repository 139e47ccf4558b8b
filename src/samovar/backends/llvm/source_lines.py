"""Which line of the program each line of LLVM text and of assembly comes from, for `samovar view`.

For that, code is rendered with a mark at the end of each line. A copy of the text gets debug locations from the marks,
which LLVM writes into its assembly. Neither reaches the cache: code is compiled from texts without marks, and debug
locations do not change what LLVM generates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from samovar.backends.protocol import Listing

#: A comment at the end of a line.
_MARK = re.compile(r" ;@(\d+)$")
_NODE = re.compile(r"^!(\d+) =", re.MULTILINE)
_LOCATION = re.compile(r"\t\.loc\t\d+ (\d+) ")
#: What debug locations add to assembly, besides sections: directives, and labels that only they refer to.
_ADDED = re.compile(r"\t\.(?:loc|cfi_\w+|file\t\d+)\b|\.L(?:tmp|func_begin)\d+:")
_DEBUG_SECTION = re.compile(r'\t\.section\t"?\.debug')
_SECTION = re.compile(r"\t\.(?:section\t|text$|data$|bss$)")


def mark_lines(lines: list[str], begin: int, line: int) -> None:
    """Mark the lines of a function from one on, except labels and those that are marked already."""
    if line > 0:
        lines[begin:] = [each if " ;@" in each or each.endswith(":") else f"{each} ;@{line}" for each in lines[begin:]]


def listings(name: str, text: str, units: Iterable[str], assemble: Callable[[str], str]) -> dict[str, Listing]:
    """The marked text of a kernel and its assembly, by stage. The assembly is that of the units."""
    code = [_read_assembly(assemble(_with_locations(unit))) for unit in units]
    assembly = Listing("".join(each.text for each in code), [line for each in code for line in each.lines])
    return {name: _unmarked(text), "asm": assembly}


def _unmarked(text: str) -> Listing:
    found = [_split(line) for line in text.splitlines()]
    return Listing("\n".join(line for line, _ in found) + "\n", [number for _, number in found])


def _split(line: str) -> tuple[str, int]:
    """A line without its mark, and the line of the program; 0 if it has none."""
    mark = _MARK.search(line)
    return (line, 0) if mark is None else (line[: mark.start()], int(mark[1]))


def _with_locations(text: str) -> str:
    """A module with debug locations instead of marks."""
    first = max(map(int, _NODE.findall(text)), default=-1) + 1
    unit, file, kind, version = range(first, first + 4)
    nodes = [
        f"!llvm.module.flags = !{{!{version}}}",
        f"!llvm.dbg.cu = !{{!{unit}}}",
        f"!{unit} = distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, emissionKind: LineTablesOnly)",
        f'!{file} = !DIFile(filename: "program", directory: "")',
        f"!{kind} = !DISubroutineType(types: !{{}})",
        f'!{version} = !{{i32 2, !"Debug Info Version", i32 3}}',
    ]
    lines: list[str] = []
    #: The function that is being read, and the locations in it, by line. A call that LLVM inlines has to have one.
    scope, places = 0, dict[int, int]()
    free = first + 4
    for marked in text.splitlines():
        line, number = _split(marked)
        if line.startswith("define "):
            scope, places, free = free, {}, free + 1
            nodes.append(
                f'!{scope} = distinct !DISubprogram(name: "f{scope}", file: !{file}, type: !{kind}, unit: !{unit},'
                " spFlags: DISPFlagDefinition)"
            )
            line = f"{line.removesuffix(' {')} !dbg !{scope} {{"
        elif line == "}":
            scope = 0
        elif scope and line.startswith("  "):
            if number not in places:
                places[number], free = free, free + 1
                nodes.append(f"!{places[number]} = !DILocation(line: {number}, scope: !{scope})")
            line = f"{line}, !dbg !{places[number]}"
        lines.append(line)
    return "\n".join([*lines, *nodes, ""])


def _read_assembly(text: str) -> Listing:
    """Assembly without what debug locations have added."""
    lines: list[str] = []
    numbers: list[int] = []
    number, is_debug = 0, False
    for line in text.splitlines():
        if _SECTION.match(line):
            is_debug = bool(_DEBUG_SECTION.match(line))
        location = _LOCATION.match(line)
        if location is not None:
            number = int(location[1])
        if is_debug or _ADDED.match(line):
            continue
        is_code = line.startswith("\t") and not line.startswith("\t.")
        if line and not line[0].isspace() and not line.startswith((".L", "#")):
            number = 0  # another function
        lines.append(line)
        numbers.append(number if is_code else 0)
    return Listing("\n".join(lines) + "\n", numbers)
