"""A soak: threads that launch, record, compile, set options, fork, import and exchange arrays, and signals that interrupt
all of it. `python tests/native/soak.py [seconds]`; `make stress` runs it for a minute.

Nothing may hang, no result may be wrong, and memory, descriptors, threads and children are at the end what they were after a
first part. A hang is told with the stacks of all threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import importlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

FOLDER = tempfile.TemporaryDirectory(prefix="samovar-soak-")
os.environ["SAMOVAR_OFFLINE_CACHE_FILE_PATH"] = str(Path(FOLDER.name, "cache"))

import numpy as np  # noqa: E402

import samovar as sv  # noqa: E402
from samovar._native import pool_statistics  # noqa: E402

#: A thread that has done nothing for so long (seconds) hangs.
PATIENCE = float(os.environ.get("SOAK_PATIENCE", "120"))
#: What may be more at the end: of memory, megabytes.
GROWTH = 48
TEXTS = 60

F32, F64, I32 = sv.types.NDArray[sv.f32, 1], sv.types.NDArray[sv.f64, 1], sv.types.NDArray[sv.i32, 1]
Flag = sv.types.NDArray[sv.i32, 0]


class Sent(Exception):
    """Sent to a thread while it launches."""


@sv.kernel
def increment(x: sv.types.ndarray()):
    for i in x:
        x[i] += 1


@sv.kernel
def total(x: F64) -> sv.f64:
    found = sv.f64(0)
    for i in x:
        found += x[i]
    return found


@sv.kernel
def count_serially(n: sv.i64) -> sv.i64:
    found = sv.i64(0)
    sv.loop_config(serialize=True)
    for i in range(n):
        found += (i ^ found) & 1
    return found


@sv.kernel
def wait_for(flag: I32):
    while flag[0] == 0:
        flag[1] = flag[1] % 1000 + 1


@sv.kernel(graph=True)
def repeat(x: F32, left: Flag):
    while sv.graph.do_while(left):
        for i in x:
            x[i] += 1
        left[None] -= 1


@sv.kernel
def speak(n: sv.i32):
    for i in range(n):
        if i % 100 == 0:
            print("said", i)


def odd_numbers(n: int) -> int:
    """What `count_serially` counts."""
    found = 0
    for i in range(n):
        found += (i ^ found) & 1
    return found


class Soak:
    """All that runs, what was done, and what went wrong."""

    def __init__(self) -> None:
        self.stops = threading.Event()
        self.done: Counter[str] = Counter()
        self.beats: dict[str, float] = {}
        self.wrong: list[str] = []
        self.waiting: threading.Thread | None = None  # launches what ends only by an exception that is sent to it
        self.takes_interrupts = False

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.wrong.append(what)

    def keep_doing(self, name: str, work: Callable[[random.Random], None], seed: int) -> None:
        dice = random.Random(f"{name} {seed}")
        while not self.stops.is_set():
            self.beats[name] = time.monotonic()
            try:
                work(dice)
            except Exception:
                self.wrong.append(f"{name}: {traceback.format_exc()}")
                self.stops.set()
            self.done[name] += 1
        self.beats.pop(name, None)

    # --- what threads do

    def launch_short(self, dice: random.Random) -> None:
        n = dice.choice((0, 1, 16, 1000))
        x = sv.ndarray(sv.f32, n) if dice.random() < 0.5 else np.zeros(n, np.float32)
        times = dice.randrange(1, 50)
        for _ in range(times):
            increment(x)
        self.expect(bool((np.asarray(x) == times).all()), "increment")

    def launch_long(self, dice: random.Random) -> None:
        x = np.ones(dice.choice((10, 100_000, 1_000_000)))
        self.expect(total(x) == len(x), "total")
        n = dice.choice((0, 1000))
        self.expect(count_serially(n) == odd_numbers(n), "count_serially")
        count_serially(dice.randrange(20_000_000))

    def launch_until_something_is_sent(self, dice: random.Random) -> None:
        wait_for(np.ones(2, np.int32))
        if dice.random() < 0.5:
            flag = np.zeros(2, np.int32)
            timer = threading.Timer(0.02, flag.fill, (1,))
            timer.start()
            wait_for(flag)
            timer.join()
            return
        try:
            self.waiting = threading.current_thread()
            wait_for(np.zeros(2, np.int32))
        except Sent:
            self.done["sent"] += 1

    def send(self, dice: random.Random) -> None:
        time.sleep(0.02 + dice.random() / 20)
        thread, self.waiting = self.waiting, None
        if thread is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Sent))

    def launch_graph(self, dice: random.Random) -> None:
        x, left = np.zeros(dice.choice((16, 50_000)), np.float32), np.array(dice.randrange(1, 200), np.int32)
        times = int(left)
        repeat(x, left)
        self.expect(bool((x == times).all()), "repeat")

    def launch_recorded(self, dice: random.Random) -> None:
        x = sv.ndarray(sv.f32, 64)
        calls, times = dice.randrange(1, 300), dice.randrange(1, 10)
        try:
            with sv.graph.record() as step:
                for _ in range(calls):
                    increment(x)
        except sv.SamovarRuntimeError:
            return  # another thread records
        for _ in range(times):
            step()
        self.expect(x[63] == calls * times, "step")

    def compile_new(self, dice: random.Random) -> None:
        number = dice.randrange(TEXTS)
        module = importlib.import_module(f"soaked_{number}")
        x = np.zeros(8, dice.choice((np.float32, np.float64, np.int32)))
        module.add(x)
        self.expect(bool((x == number).all()), "add")
        if dice.random() < 0.5:
            sys.modules.pop(module.__name__, None)

    def set_options(self, dice: random.Random) -> None:
        time.sleep(0.1 + dice.random() / 5)
        if dice.random() < 0.3:
            sv.reset()
        else:
            sv.init(debug=dice.random() < 0.2, num_threads=dice.choice((0, 1, 2, 3)), fast_math=dice.random() < 0.5)

    def exchange_arrays(self, dice: random.Random) -> None:
        x = sv.ndarray(sv.f32, dice.choice((4, 70_000)))
        views = [np.asarray(x), memoryview(x), np.from_dlpack(x), x.to_numpy()]
        increment(x)
        dice.shuffle(views)
        del views[2:]
        sv.algorithms.prefix_sum(x, x)
        sv.algorithms.parallel_sort(x)
        self.expect(x[0] == 1 and x[x.size - 1] == x.size, "exchange")
        if dice.random() < 0.02:
            gc.collect()

    def import_modules(self, dice: random.Random) -> None:
        name = dice.choice(("colorsys", "sched", "this_is_not_there", "samovar.linalg", "samovar.tools", "samovar.cli"))
        try:
            importlib.import_module(name)
        except ImportError:
            time.sleep(0.01)
        if not name.startswith("samovar"):
            sys.modules.pop(name, None)

    def fork(self, dice: random.Random) -> None:
        time.sleep(dice.random() / 5)
        child = os.fork()
        if child == 0:
            self.live_as_child(dice)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.beats["fork"] = time.monotonic()
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                self.expect(status == 0, f"a child ended with {os.waitstatus_to_exitcode(status)}")
                return
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.wrong.append("a child hangs")

    def live_as_child(self, dice: random.Random) -> None:
        status = 1
        self.wrong.clear()
        try:
            # Not `dump_traceback_later`, whose thread is the parent's.
            faulthandler.register(signal.SIGALRM, chain=True)
            signal.alarm(int(PATIENCE * 0.8))
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for work in dice.sample((self.launch_short, self.launch_long, self.launch_graph, self.compile_new), 3):
                work(dice)
            status = 2 if self.wrong else 0
            print(*self.wrong, sep="\n", end="", file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    # --- signals, and the main thread

    def signal_the_process(self, dice: random.Random) -> None:
        time.sleep(0.05 + dice.random() / 5)
        os.kill(os.getpid(), dice.choice((signal.SIGUSR1, signal.SIGUSR1, signal.SIGINT)))

    def handle(self, number: int, frame: object) -> None:
        x = sv.ndarray(sv.f32, 8)
        try:
            increment(x)
        except sv.SamovarRuntimeError as error:
            if "cannot be looked up here" not in str(error):
                raise
            self.done["refused"] += 1
            return
        self.expect(x[7] == 1, "a launch in a handler")
        self.done["handler"] += 1

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Not in the middle of an import: Python loses the lock of all imports if it is interrupted where it takes it."""
        while frame is not None:
            if "importlib" in frame.f_code.co_filename:
                return
            frame = frame.f_back
        if self.takes_interrupts:
            self.takes_interrupts = False
            raise KeyboardInterrupt

    def live_as_main(self, dice: random.Random) -> None:
        dice.choice((self.launch_short, self.launch_long, self.launch_graph, self.compile_new))(dice)
        speak(1000)

    def run_main(self, until: float) -> None:
        """The main thread launches, and every interrupt comes to it."""
        dice = random.Random("main")
        while not self.stops.is_set():
            try:
                self.takes_interrupts = True
                while time.monotonic() < until and not self.stops.is_set():
                    self.beats["main"] = time.monotonic()
                    self.live_as_main(dice)
                    self.done["main"] += 1
                self.takes_interrupts = False
                self.stops.set()
            except KeyboardInterrupt:
                self.done["interrupted"] += 1
        self.beats.pop("main", None)

    # --- watching

    def watch(self) -> None:
        """A thread that Python does not let run any more dumps the stacks by itself, since nobody tells it to wait."""
        while True:
            faulthandler.dump_traceback_later(PATIENCE * 1.5, exit=True)
            late = [name for name, beat in list(self.beats.items()) if time.monotonic() - beat > PATIENCE]
            if late:
                print(f"these hang: {', '.join(late)}", file=sys.stderr, flush=True)
                faulthandler.dump_traceback(all_threads=True)
                os._exit(1)
            if self.stops.wait(1) and not self.beats:
                return

    def run(self, seconds: float) -> None:
        jobs = {
            "short 1": self.launch_short, "short 2": self.launch_short, "long": self.launch_long,
            "waiting": self.launch_until_something_is_sent, "send": self.send, "graph": self.launch_graph,
            "recorded": self.launch_recorded, "compile": self.compile_new, "options": self.set_options,
            "arrays": self.exchange_arrays, "import": self.import_modules, "fork": self.fork,
            "signals": self.signal_the_process,
        }  # fmt: skip
        self.stops.clear()
        watching = threading.Thread(target=self.watch)
        watching.start()
        threads = [threading.Thread(target=self.keep_doing, args=(name, work, 1)) for name, work in jobs.items()]
        for thread in threads:
            thread.start()
        self.run_main(time.monotonic() + seconds)
        while any(thread.is_alive() for thread in threads):
            try:
                if self.waiting is not None:
                    self.send(random.Random(0))
                time.sleep(0.01)
            except KeyboardInterrupt:
                self.done["interrupted"] += 1
        time.sleep(0.3)  # the last signals have arrived
        watching.join()
        faulthandler.cancel_dump_traceback_later()
        self.beats.clear()


def state() -> dict[str, int]:
    """What may not grow, when nothing runs."""
    if "samovar.compiler.workers" in sys.modules:
        sys.modules["samovar.compiler.workers"].stop()
    sv.reset()
    for _ in range(3):
        gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "megabytes": int(status["VmRSS"].split()[0]) // 1024,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "children": len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
        if Path(f"/proc/self/task/{os.getpid()}/children").exists()
        else 0,
        "objects": len(gc.get_objects()),
    }


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    warnings.simplefilter("ignore")
    for number in range(TEXTS):
        text = "import samovar as sv\n\n@sv.kernel\ndef add(x: sv.types.ndarray()):\n    for i in x:\n        x[i] += "
        Path(FOLDER.name, f"soaked_{number}.py").write_text(f"{text}{number}\n")
    sys.path.insert(0, FOLDER.name)
    sys.dont_write_bytecode = True
    soak = Soak()
    ignored: list[str] = []
    sys.unraisablehook = lambda found: ignored.append(f"{found.err_msg} {found.exc_value!r}")
    signal.signal(signal.SIGINT, soak.interrupt)
    signal.signal(signal.SIGUSR1, soak.handle)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # what kernels print
        soak.run(min(max(seconds / 5, 10), 60))
        before = state()
        soak.run(seconds)
        after = state()
    threads = after.pop("threads") - before.pop("threads")
    soak.expect(threads == 0, f"{threads} threads are left")
    soak.expect(after["children"] <= before["children"], "children are left")
    soak.expect(after["descriptors"] <= before["descriptors"], "descriptors are left open")
    soak.expect(after["megabytes"] <= before["megabytes"] + GROWTH, "memory grows")
    soak.wrong += [each for each in ignored if "KeyboardInterrupt" not in each]
    print(f"{seconds:.0f} s: {dict(sorted(soak.done.items()))}")
    print(f"before: {before}\nafter:  {after}\npool:   {pool_statistics()}")
    for each in soak.wrong[:20]:
        print(each)
    print("something is wrong" if soak.wrong else "nothing hangs, nothing leaks")
    return int(bool(soak.wrong))


if __name__ == "__main__":
    status = main()
    FOLDER.cleanup()
    sys.exit(status)
