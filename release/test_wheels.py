"""Tries out each wheel in dist/ in an environment that has nothing else, away from the sources.

    make test-wheels

What is installed is looked at, `samovar doctor` has to find everything well, the program of the README has to run, and so
have the tests of programs in kernels, with the tests that the sdist brings.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from interpreters import ROOT, clean_variables, environment, interpreters, run

#: What is run of the suite: whole programs, the cache across processes, the command line.
TESTS = ("tests/language/test_programs.py", "tests/cache/test_warm_process.py", "tests/cli/test_listing.py")

LOOK = """
import importlib.metadata as metadata, pathlib, samovar
files = [str(each) for each in metadata.files("samovar")]
assert not [each for each in files if each.endswith((".c", ".h"))], files
assert any(each.endswith("samovar/py.typed") for each in files)
assert any(each.endswith("samovar/__init__.pyi") for each in files)
assert metadata.version("samovar") == samovar.__version__
text = metadata.metadata("samovar").get_payload() or metadata.metadata("samovar")["Description"]
assert "](docs/" not in text, "links to files that an index does not have"
assert "site-packages" in samovar.__file__
print("   ", len(files), "files,", samovar.__version__)
"""


def main() -> None:
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if not wheels:
        sys.exit("there are no wheels in dist: make wheels")
    (sdist,) = (ROOT / "dist").glob("*.tar.gz")
    found = interpreters()
    with tempfile.TemporaryDirectory(prefix="samovar-clean-") as name:
        directory = Path(name)
        with tarfile.open(sdist) as archive:
            archive.extractall(directory)  # our own
        (sources,) = directory.glob("samovar-*")
        for wanted in ("docs/guide.md", "tests/conftest.py", "examples/axpy.py", "Makefile"):
            if not (sources / wanted).exists():
                sys.exit(f"{sdist.name} lacks {wanted}")
        (sources / "src").rename(sources / "sources-away")  # what is tested is the wheel
        readme = (sources / "README.md").read_text()
        program = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
        assert program is not None
        for wheel in wheels:
            version = re.sub(r".*-cp3(\d+)-cp.*", r"3.\1", wheel.name)
            if version not in found:
                continue
            print(wheel.name, flush=True)
            python = environment(found[version], directory / version, f"{wheel}[numpy]")
            variables = {**clean_variables(), "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory / f"cache-{version}")}
            away = {"cwd": directory, "env": variables}
            run(python, "-I", "-c", LOOK, **away)
            run(python, "-m", "samovar", "doctor", **away)
            example = program[1] + "\nassert (y == 2).all()\n"
            (directory / "example.py").write_text(example)
            subprocess.run([python, "example.py"], check=True, **away)
            run(python, "-m", "pip", "install", "--quiet", f"{wheel}[dev]")
            run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, cwd=sources, env=variables)


if __name__ == "__main__":
    main()
