"""The versions of Python that are declared, as far as they are found on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def declared_versions() -> list[str]:
    """What the classifiers say: "3.10" and so on, oldest first."""
    text = (ROOT / "pyproject.toml").read_text()
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def interpreters() -> dict[str, str]:
    """Version → interpreter: on the path, or where pyenv keeps them."""
    found = {}
    for version in declared_versions():
        kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
        path = shutil.which(f"python{version}") if not kept else str(kept[-1])
        if path is not None and _is(path, version):
            found[version] = path
        else:
            print(f"Python {version} is not installed and is left out", flush=True)
    return found


def _is(path: str, version: str) -> bool:
    asked = subprocess.run(
        [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() == version


def run(*command: object, **settings: object) -> None:
    """Run a command, and end with its exit code if it fails."""
    done = subprocess.run([str(each) for each in command], check=False, **settings)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(str(each) for each in command)} ended with {done.returncode}")


def environment(python: str, directory: Path, *packages: object) -> str:
    """A new environment with some packages. Gives its interpreter."""
    run(python, "-m", "venv", "--clear", directory)
    inside = str(directory / "bin" / "python")
    run(inside, "-m", "pip", "install", "--quiet", *packages)
    return inside


def clean_variables() -> dict[str, str]:
    """The environment of this process without what would lead Python or Samovar elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SAMOVAR_"))}
