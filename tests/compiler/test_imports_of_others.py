"""A child that is forked while another thread imports something can import it too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, signal, sys, threading
import samovar.compiler.workers

sys.begun = threading.Event()

def load():
    import slowly_made
    return slowly_made.value

thread = threading.Thread(target=load)
thread.start()
sys.begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(load())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
print(load())
"""


def test_a_child_begins_an_import_anew(tmp_path: Path) -> None:
    (tmp_path / "slowly_made.py").write_text("import sys, time\nsys.begun.set()\ntime.sleep(1)\nvalue = 3\n")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM]
    settings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert subprocess.run(command, capture_output=True, text=True, env=settings, check=True).stdout == "3\n3\n"
