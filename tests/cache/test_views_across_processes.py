"""Views from the cache: the programs of `tests/language/view_programs.py` in a process that compiles nothing; and
the messages of debug mode from a kernel that another process has compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

LANGUAGE = Path(__file__).parent.parent / "language"

PROGRAM = """
    import dataclasses, json, sys
    import numpy as np
    import samovar as sv

    debug, shift = sys.argv[2] == "debug", int(sys.argv[3])
    sv.init(offline_cache_file_path=sys.argv[1], debug=debug, log_level="error")
    sys.path.insert(0, sys.argv[4])
    import view_programs

    wrong = [name for name, found, expected in view_programs.outcomes() if found != expected]

    @dataclasses.dataclass(frozen=True)
    class Frozen:
        v: sv.BufferView[sv.f32]

    @sv.func
    def put(v, i):
        v[i] = i

    @sv.kernel
    def check(v: sv.BufferView[sv.f32], f: Frozen, i: sv.i32) -> sv.i32:
        for k in range(1):
            put(f.v, i)
        return v.offset * 100 + v.size * 10 + f.v.offset

    data = sv.ndarray(sv.f32, 64)
    found = [check(data[shift : shift + 6], Frozen(data[8 + shift : 12 + 2 * shift]), shift), data.to_numpy().tolist()]
    said = ""
    try:
        check(data[:4], Frozen(data[8 + shift :]), 64 - 8 - shift) if debug else None
    except sv.SamovarAssertionError as error:
        said = str(error)
    compiled = sv.compile_count()
    loaded = sorted(name for name in sys.modules if name.startswith(("samovar.frontend", "samovar.ir")))
    print(json.dumps([wrong, found, said, compiled, loaded]))
"""


@pytest.mark.parametrize("mode", ["plain", "debug"])
def test_another_process_finds_everything_for_other_parts(tmp_path, mode):
    path = tmp_path / "main.py"
    path.write_text(dedent(PROGRAM))

    def run(shift):
        done = subprocess.run(
            [sys.executable, str(path), str(tmp_path / "cache"), mode, str(shift), str(LANGUAGE)],
            capture_output=True, text=True, timeout=300, env=os.environ,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    line = 1 + next(place for place, text in enumerate(path.read_text().splitlines()) if "put(f.v, i)" in text)
    inner = 1 + next(place for place, text in enumerate(path.read_text().splitlines()) if "v[i] = i" in text)
    for turn, shift in enumerate((0, 3)):
        wrong, (returned, elements), said, compiled, loaded = run(shift)
        assert not wrong
        assert returned == shift * 100 + 60 + 8 + shift
        assert elements == [float(shift) if place == 8 + 2 * shift else 0.0 for place in range(64)]
        assert (compiled == 0, loaded == []) == (turn == 1, turn == 1)
        if mode == "debug":
            size = 64 - 8 - shift
            assert said == (
                f"BufferView Out Of Range: kernel[check] tid=0, got index {size} (offset={8 + shift}, size={size}).\n"
                f"Callstack:\ncheck (main.py:{line})\n  put (main.py:{inner})"
            )
