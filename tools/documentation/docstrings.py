"""Docstrings as Markdown: paragraphs and lists are kept, examples become code blocks."""

from __future__ import annotations


def as_markdown(text: str) -> str:
    """A docstring whose examples (`>>> …`, up to an empty line) are fenced."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        starts, ends = line.lstrip().startswith(">>>") and not inside, inside and not line.strip()
        if starts:
            if lines and lines[-1].strip():
                lines.append("")
            lines.append("```pycon")
        if ends:
            lines.append("```")
        inside = (inside or starts) and not ends
        lines.append(line)
    if inside:
        lines.append("```")
    return "\n".join(lines)


def without_examples(text: str) -> str:
    """The text without examples."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        inside = line.lstrip().startswith(">>>") or (inside and bool(line.strip()))
        if not inside:
            kept.append(line)
    return "\n".join(kept).strip()


def in_a_cell(text: str) -> str:
    """A text as a table cell."""
    return " ".join(text.split()).replace("|", "\\|")
