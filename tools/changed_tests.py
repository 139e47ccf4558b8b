"""Runs the tests of the files that changed since main, for `make check`.

A changed test runs itself. A changed module runs the tests that have its name, in the folder that mirrors its package or
among those of the semantics of kernels; if there are none, tests in that folder that mention it, or any of them. At most
`MOST` files run per changed module, so that a check stays quick. A changed page runs the tests of the documentation.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
#: The limit of test files for one changed module.
MOST = 8
#: Folders of tests that cover a package besides its own.
ALSO = {"artifact": "cache", "values": "language", "simt": "language", "tools": "api", "reflection": "lens"}


def git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def changed_files() -> list[str]:
    """What differs from the commit in which this branch left main, with what is not committed yet."""
    base = git("merge-base", "HEAD", "main")[0]
    return sorted({*git("diff", "--name-only", "--diff-filter=d", base), *git("ls-files", "--others", "--exclude-standard")})


def related_tests(file: str, root: Path = ROOT) -> set[str]:
    """The test files for one changed file."""
    path = PurePosixPath(file)
    if path.suffix == ".md":
        return {
            "tests/documentation/test_site.py",
            "tests/documentation/test_code_blocks.py",
            "tests/documentation/test_decisions.py",
        }
    if path.parts[0] == "tests":
        return {file} if path.name.startswith("test_") and path.suffix == ".py" else set()
    if path.parts[0] == "examples":
        return {"tests/examples/test_examples.py"}
    if path.parts[:2] != ("src", "samovar") or path.suffix not in (".py", ".c", ".h"):
        return set()
    if path.name == "__init__.py":
        return {"tests/api/test_packages.py"}
    package = path.parts[2].lstrip("_") if len(path.parts) > 3 else "api"
    everywhere = sorted((root / "tests").rglob("test_*.py"))
    own = [test for test in everywhere if test.relative_to(root).parts[1] in (package, ALSO.get(package))]
    semantics = [test for test in everywhere if test.relative_to(root).parts[1] == "language"]
    found = (
        [test for test in own if f"_{path.stem}" in test.stem]
        or [test for test in semantics if f"_{path.stem}" in test.stem]
        or [test for test in own if path.stem in test.read_text()]
        or own
    )
    return {str(test.relative_to(root)) for test in found[:MOST]}


def main() -> int:
    files = changed_files()
    chosen = sorted({test for file in files for test in related_tests(file)})
    print(f"{len(files)} changed files, {len(chosen)} test files", flush=True)
    return subprocess.run([sys.executable, "-m", "pytest", "-n", "2", *chosen], cwd=ROOT).returncode if chosen else 0


if __name__ == "__main__":
    sys.exit(main())
