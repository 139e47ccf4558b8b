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


def documentation() -> str:
    """Where the site can be read: `Documentation = "https://…"` of `[project.urls]` in pyproject.toml; nothing without."""
    found = re.search(r'^Documentation *= *"([^"]+)"', Path("pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].rstrip("/") if found else ""


def description() -> str:
    """The README for package indexes, which have no other files: links to pages and pictures lead to the site if its address
    is declared; what is left is removed."""
    site = documentation()

    def elsewhere(link: re.Match[str]) -> str:
        text, file = link.groups()
        if not site or not file.startswith("docs/"):
            return text
        page = file.removeprefix("docs/").rstrip("/")
        page = re.sub(r"\.md(?=$|#)", ".html", page) if ".md" in page else f"{page}/index.html"
        return f"[{text}]({site}/{page})"

    readme = Path("README.md").read_text(encoding="utf-8")
    if site:
        readme = re.sub(r'((?:src|srcset)=")docs/', rf"\1{site}/", readme)
    else:
        readme = re.sub(r"<picture>.*?</picture>\n*|<img [^>]*>\n*", "", readme)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?://|#)([^)\s]+)\)", elsewhere, readme)


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    ext_modules=[
        Extension(
            "samovar._native",
            sources=sorted(glob("src/samovar/_native/**/*.c", recursive=True)),
            depends=[str(path) for path in SOURCES],
            include_dirs=["src/samovar/_native"],
            define_macros=[("SV_BUILD", f'"{build_digest()}"')],
            extra_compile_args=COMPILE_FLAGS + SANITIZE_FLAGS,
            extra_link_args=["-pthread", "-ldl", "-lm", *SANITIZE_FLAGS],
        )
    ]
)
