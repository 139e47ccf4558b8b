"""The line for who waits at a terminal while kernels compile, and that nobody else gets one."""

import os
import pty
import subprocess
import sys

PROGRAM = """
import samovar as sv
from samovar.compiler import progress

sv.init(offline_cache=False)
progress.PATIENCE = 1000.0

def made(number):
    @sv.kernel
    def fill(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a[i] = number
    return fill

a = sv.ndarray(sv.f32, 4)
made(1)(a)
print("first", flush=True)
progress.PATIENCE, progress.INTERVAL = 0.0, 0.001  # as if half a second were over
for number in range(2, 5):
    made(number)(a)
print("done", a[0], flush=True)
"""


def at_a_terminal(*command: str) -> str:
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the terminal is gone with the last process that has it
            pass
        os.close(ours)
    assert process.returncode == 0, shown
    return shown.decode()


def test_a_terminal_is_told_what_takes_long_and_the_line_goes_away():
    shown = at_a_terminal(sys.executable, "-c", PROGRAM)
    before, _, after = shown.partition("first")
    assert before == ""  # it was quick
    assert "samovar: compiling fill (2 kernels, " in after
    assert "samovar: compiling fill (4 kernels, " in after
    # The last thing before the program goes on is an empty line.
    assert after.rstrip().endswith("\r\x1b[Kdone 4.0")


def test_nothing_is_written_anywhere_else():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("first\ndone 4.0\n", "")


STAGING = """
import time
import samovar as sv
from samovar.compiler import progress

sv.init(offline_cache=False)
progress.PATIENCE, progress.INTERVAL = 0.0, 0.001

def slow():
    time.sleep(0.2)  # long before there is anything for LLVM
    print("staged", flush=True)
    return 7.0

@sv.kernel
def fill(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = sv.static(slow())

a = sv.ndarray(sv.f32, 4)
fill(a)
print("done", a[0], flush=True)
"""


def test_a_terminal_is_told_while_a_kernel_is_staged(tmp_path):
    path = tmp_path / "staging.py"
    path.write_text(STAGING)
    shown = at_a_terminal(sys.executable, str(path))
    before, _, after = shown.partition("staged")
    assert before.count("samovar: compiling fill") > 5
    assert after.rstrip().endswith("\r\x1b[Kdone 7.0")
