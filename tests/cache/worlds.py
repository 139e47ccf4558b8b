"""Small programs in files of their own, run in this process or in another one, with a cache of their own each.

A world is a folder with `main.py` and whatever it imports; `main()` gives a result. Running a world says what the result is,
how many kernels were compiled for it, and how often LLVM ran for them.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

HEADER = "import enum\nimport math\nimport samovar as sv\nfrom samovar import static\n"
TESTS = str(Path(__file__).parent)


def write(folder: Path, files: dict[str, str]) -> Path:
    """Make the files of a world; `main.py` gets the imports that every one needs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text((HEADER if name == "main.py" else "") + textwrap.dedent(text))
    return folder


def run(folder: Path, cache: Path, **options: Any) -> dict[str, Any]:
    """Import a world as if for the first time, and call it."""
    import samovar as sv

    sv.init(offline_cache_file_path=cache, log_level="error", **options)
    names = [path.stem for path in folder.glob("*.py")]
    sys.path.insert(0, str(folder))
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    kernels, llvm = sv.compile_count(), sv.compile_count("llvm")
    try:
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        result = importlib.import_module("main").main()
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = bytecode
        for name in names:
            sys.modules.pop(name, None)
    return {"result": result, "kernels": sv.compile_count() - kernels, "llvm": sv.compile_count("llvm") - llvm}


def run_elsewhere(
    worlds: dict[str, tuple[Path, Path]],
    environment: dict[str, str] | None = None,
    prelude: str = "",
    flags: tuple[str, ...] = (),
    **options: Any,
) -> dict[str, dict[str, Any]]:
    """Run worlds (a folder and a cache each) one after the other in another process."""
    program = textwrap.dedent(
        f"""
        import json, sys
        from pathlib import Path
        sys.path.insert(0, {TESTS!r})
        """
    ) + textwrap.dedent(prelude)
    program += textwrap.dedent(
        """
        import worlds
        found = {}
        for name, (folder, cache, options) in json.loads(sys.argv[1]).items():
            found[name] = worlds.run(Path(folder), Path(cache), **options)
        print(json.dumps(found))
        """
    )
    arguments = {name: (str(folder), str(cache), options) for name, (folder, cache) in worlds.items()}
    done = subprocess.run(
        [sys.executable, *flags, "-c", program, json.dumps(arguments)],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_program(program: Path, environment: dict[str, str], *flags: str) -> str:
    """What a program prints that is started on its own."""
    done = subprocess.run(
        [sys.executable, *flags, str(program)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
