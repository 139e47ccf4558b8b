"""The checklist of a release: runs each step in order and stops at the first one that fails.

    make release-check                       # all steps
    python release/checklist.py --list       # what they are
    python release/checklist.py --from site  # go on after a failure

It changes nothing outside build/ and dist/. It ends by printing the remaining steps: tag, upload, publish the site.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class NotReady(Exception):
    """A step of the checklist failed."""


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def version() -> str:
    found = re.search(r'^__version__ = "([^"]+)"', (ROOT / "src/samovar/__init__.py").read_text(), re.MULTILINE)
    if found is None:
        raise NotReady("src/samovar/__init__.py has no __version__")
    return found[1]


def check_tree() -> None:
    """Nothing is uncommitted, and the branch is main."""
    if output("git", "status", "--porcelain"):
        raise NotReady("the working tree has uncommitted changes")
    branch = output("git", "rev-parse", "--abbrev-ref", "HEAD")
    if branch != "main":
        raise NotReady(f"the branch is {branch}, not main")


def check_version() -> None:
    """The version is x.y.z and has no tag yet."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version()):
        raise NotReady(f"{version()} is not of the form x.y.z")
    if output("git", "tag", "--list", f"v{version()}"):
        raise NotReady(f"the tag v{version()} exists: raise __version__")


def check_changelog(text: str | None = None, today: date | None = None) -> None:
    """The changelog has a section for the version, dated today or earlier, and nothing is left under Unreleased."""
    text = (ROOT / "CHANGELOG.md").read_text() if text is None else text
    sections = dict(re.findall(r"^## \[?([\w.]+)\]?(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    if sections.get("Unreleased", "").strip():
        raise NotReady("CHANGELOG.md has entries under Unreleased: move them to the new version")
    dated = re.match(r" - (\d{4}-\d\d-\d\d)$", sections.get(version(), ""), re.MULTILINE)
    if dated is None:
        raise NotReady(f"CHANGELOG.md has no section '## [{version()}] - YYYY-MM-DD'")
    if date.fromisoformat(dated[1]) > (today or date.today()):
        raise NotReady(f"CHANGELOG.md dates {version()} in the future")


def make(*targets: str) -> Callable[[], None]:
    def run() -> None:
        for target in targets:
            if subprocess.run(["make", target], cwd=ROOT).returncode:
                raise NotReady(f"make {target} failed")

    run.__doc__ = f"make {' '.join(targets)}"
    return run


STEPS: dict[str, Callable[[], None]] = {
    "tree": check_tree,
    "version": check_version,
    "changelog": check_changelog,
    "tests": make("test"),
    "libraries": make("test-torch", "test-jax", "test-fleet"),
    "oldest": make("test-oldest"),
    "sanitizers": make("sanitize", "tsan"),
    "stress": make("stress"),
    "site": make("docs", "test-site", "test-pages"),
    "wheels": make("wheels", "test-wheels"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the steps and run nothing")
    parser.add_argument("--from", dest="start", choices=STEPS, default="tree", help="skip the steps before this one")
    options = parser.parse_args()
    names = list(STEPS)
    for name in names[names.index(options.start) :]:
        print(f"{name}: {STEPS[name].__doc__}", flush=True)
        if options.list:
            continue
        try:
            STEPS[name]()
        except NotReady as reason:
            print(
                f"not ready: {reason}\nAfter a fix, go on with: python release/checklist.py --from {name}", file=sys.stderr
            )
            return 1
    if not options.list:
        print(f"Ready. Now: git tag v{version()}, push the tag, upload dist/*, publish build/site.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
