"""The one C11 extension; everything else about the build is in pyproject.toml."""

import os
from glob import glob

from setuptools import Extension, setup

COMPILE_FLAGS = ["-std=c11", "-O2", "-g1", "-Wall", "-Wextra", "-fvisibility=hidden"]
# `make sanitize` hands in the sanitizer flags; a normal build has none.
SANITIZE_FLAGS = os.environ.get("SAMOVAR_SANITIZE", "").split()

setup(
    ext_modules=[
        Extension(
            "samovar._native",
            sources=sorted(glob("src/samovar/_native/*.c")),
            depends=sorted(glob("src/samovar/_native/*.h")),
            include_dirs=["src/samovar/_native"],
            extra_compile_args=COMPILE_FLAGS + SANITIZE_FLAGS,
            extra_link_args=["-pthread", "-ldl", "-lm", *SANITIZE_FLAGS],
        )
    ]
)
