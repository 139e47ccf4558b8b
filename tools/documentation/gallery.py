"""The gallery: a page with all examples, each with its picture or output and the first sentence of its docstring.

`page()` writes the page while the site is built. Run as a program (`make gallery`), it runs the examples and updates
their pictures and output in docs/images/gallery.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from public_names import first_sentence

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, PICTURES = ROOT / "examples", ROOT / "docs" / "images" / "gallery"
PLACE = "gallery.md"
#: Longer output is cut.
LINES = 16


def examples() -> list[str]:
    """Those with a picture first. A module that another example imports is a part of that one."""
    trees = {path.stem: ast.parse(path.read_text()) for path in EXAMPLES.glob("*.py")}
    imported = {
        name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    return sorted(trees.keys() - imported, key=lambda name: (not (PICTURES / f"{name}.png").is_file(), name))


def sentence(name: str) -> str:
    return first_sentence(ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text())) or "")


def card(name: str) -> list[str]:
    """Its picture, or the beginning of its output."""
    text = f"{sentence(name)} [`{name}.py`](../examples/{name}.py)"
    picture, printed = PICTURES / f"{name}.png", PICTURES / f"{name}.txt"
    if picture.is_file():
        return [f"-   ![{sentence(name)}](images/gallery/{name}.png){{ loading=lazy }}", "", f"    {text}", ""]
    output = [f"    {line}" for line in printed.read_text().splitlines()]
    return [f"-   {text}", "", "    ```text", *output, "    ```", ""]


def page() -> str:
    lines = [
        "---",
        "hide:",
        "  - navigation",
        "  - toc",
        "---",
        "",
        "# Gallery",
        "",
        "Every program in `examples/` runs on its own: `python examples/smoke.py`. Those with a picture write it to `out/`.",
        "",
        '<div class="grid cards gallery" markdown>',
        "",
    ]
    for name in examples():
        lines += card(name)
    return "\n".join([*lines, "</div>", ""])


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        for name in examples():
            print(name, flush=True)
            command = [sys.executable, str(EXAMPLES / f"{name}.py")]
            environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": f"{directory}/cache"}
            done = subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True, text=True)
            drawn = Path(directory) / "out" / f"{name}.png"
            if drawn.is_file():
                shutil.copy(drawn, PICTURES)
            else:
                (PICTURES / f"{name}.txt").write_text("\n".join(done.stdout.splitlines()[:LINES]) + "\n")


if __name__ == "__main__":
    main()
