"""The graph of a kernel as plain data, and rendered as text or Graphviz.

A node is (kind, name, line, nodes inside): a "task", "serial" code, a "loop" over a flag, a "checkpoint", "sections" and
each "section" of them. The artifact of a kernel with `graph=True` stores the nodes, so that they can be rendered when the
arguments of a launch no longer exist; line numbers are then those at compile time.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Kind, name, line, nodes inside.
Node = tuple[str, str, int, "tuple[Any, ...]"]

_WORDS = {"loop": "repeat while ", "sections": "in parallel", "section": "section"}


def label(node: Node) -> str:
    """Return the label of a node."""
    kind, name, line, _ = node
    return f"{_WORDS.get(kind, kind + ' ')}{name}".rstrip() + (f"  (line {line})" if line else "")


def as_text(name: str, nodes: Sequence[Node]) -> str:
    """Render boxes and arrows in plain text."""
    lines = [name]
    _write(nodes, "", lines)
    return "\n".join(lines) + "\n"


def _write(nodes: Sequence[Node], indent: str, lines: list[str]) -> None:
    for position, node in enumerate(nodes):
        last = position == len(nodes) - 1
        sign = {"loop": "↻ ", "checkpoint": "⚑ ", "sections": "⇉ ", "section": "∥ "}.get(node[0], "")
        lines.append(f"{indent}{'└─' if last else '├─'} {sign}{label(node)}")
        _write(node[3], indent + ("   " if last else "│  "), lines)


def as_dot(name: str, nodes: Sequence[Node]) -> str:
    """Render the graph for `dot -Tsvg`: loops, checkpoints and sections are boxes around their nodes."""
    lines = [f"digraph {_quoted(name)} {{", "  compound=true; node [shape=box, fontname=\"sans-serif\", fontsize=10];"]
    drawing = _Dot(lines)
    begin, end = drawing.point("start", "circle"), None
    end = drawing.sequence(nodes, [begin], 1)
    done = drawing.point("end", "doublecircle")
    drawing.arrows(end, done)
    return "\n".join([*lines, *drawing.edges, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Dot:
    """Writes nodes, and arrows from each to its successors."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.edges: list[str] = []
        self.count = 0

    def point(self, text: str, shape: str = "box", depth: int = 1) -> str:
        self.count += 1
        name = f"n{self.count}"
        self.lines.append(f"{'  ' * depth}{name} [label={_quoted(text)}, shape={shape}];")
        return name

    def arrows(self, before: Sequence[str], after: str, style: str = "") -> None:
        self.edges += [f"  {each} -> {after}{style};" for each in before]

    def sequence(self, nodes: Sequence[Node], before: list[str], depth: int) -> list[str]:
        """Write a sequence of nodes; return the predecessors of the next one."""
        for node in nodes:
            kind, inside = node[0], node[3]
            if kind in ("task", "serial"):
                point = self.point(label(node), depth=depth)
                self.arrows(before, point)
                before = [point]
                continue
            self.count += 1
            space = "  " * depth
            self.lines += [f"{space}subgraph cluster_{self.count} {{", f"{space}  label={_quoted(label(node))};"]
            first = self.count + 1
            if kind == "sections":
                before = [end for part in inside for end in self.sequence([part], before, depth + 1)] or before
            else:
                before = self.sequence(inside, before, depth + 1)
                if kind == "loop" and self.count >= first:
                    entry = self.first_after(first)
                    self.arrows(before, entry, " [style=dashed, constraint=false]")
            self.lines.append(f"{'  ' * depth}}}")
        return before

    def first_after(self, number: int) -> str:
        """Return the first node that was written from a number on."""
        written = (line.split()[0] for line in self.lines if line.lstrip().startswith("n") and "[label" in line)
        return next(name for name in written if int(name[1:]) >= number)
