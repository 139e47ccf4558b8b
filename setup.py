"""The one C11 extension, and the description for package indexes; everything else about the build is in pyproject.toml."""

import os
import re
from glob import glob
from hashlib import blake2b
from pathlib import Path

from setuptools import Extension, setup

COMPILE_FLAGS = ["-std=c11", "-O2", "-g1", "-Wall", "-Wextra", "-fvisibility=hidden"]
# `make sanitize` hands in the sanitizer flags; a normal build has none.
SANITIZE_FLAGS = os.environ.get("SAMOVAR_SANITIZE", "").split()

ROOT = Path("src/samovar")
SOURCES = sorted(each for each in ROOT.rglob("*") if each.suffix in (".py", ".c", ".h"))


def build_digest() -> str:
    """A digest of all sources: two builds of one version are not the same compiler, and share no cached kernels."""
    digest = blake2b(digest_size=8)
    for path in SOURCES:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


#: Where files of the repository can be read: what links between them become in a package index, which has no such files.
#: Nothing yet, so that the description has no links to files.
REPOSITORY = ""


def description() -> str:
    """The README as package indexes show it."""
    whole = f"[\\1]({REPOSITORY}/\\2)" if REPOSITORY else "\\1"
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?://|#)([^)\s]+)\)", whole, Path("README.md").read_text(encoding="utf-8"))


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    ext_modules=[
        Extension(
            "samovar._native",
            sources=sorted(glob("src/samovar/_native/*.c")),
            depends=[str(path) for path in SOURCES],
            include_dirs=["src/samovar/_native"],
            define_macros=[("SV_BUILD", f'"{build_digest()}"')],
            extra_compile_args=COMPILE_FLAGS + SANITIZE_FLAGS,
            extra_link_args=["-pthread", "-ldl", "-lm", *SANITIZE_FLAGS],
        )
    ]
)
