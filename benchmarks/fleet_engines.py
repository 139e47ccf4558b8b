"""A sweep of small simulations on Dask and Ray, with Samovar and with Numba: how long the first task of a worker takes, and
how many tasks are done in a second after that.

    pip install distributed ray numba
    python benchmarks/fleet_engines.py [--engines dask,ray] [--tasks 1000] [--workers 2] [--runs 3]

Each simulation launches three kernels. Samovar's workers have an empty disk and a tier in a folder that a publisher has
filled. Numba's have an empty cache directory, and in another row a shared one that is full, as on a network drive. A first
task is timed in the worker that runs it, with importing the library: by processor time, and by the clock. Medians over all
workers and runs. Results are compared.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

KERNELS = """
{declare}
def start({arguments}):
    for i in range(x.shape[0]):
        x[i] = i * 0.001 * (1 + 0.001 * number)
        v[i] = 0.0

{declare}
def advance({arguments}):
    for _ in range(100):
        for i in range(1, x.shape[0] - 1):
            v[i] += 0.01 * (x[i - 1] - 2 * x[i] + x[i + 1]) - 0.0001 * x[i] * x[i]
        for i in range(x.shape[0]):
            x[i] += 0.01 * v[i]

{declare}
def energy({arguments}){result}:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i] + v[i] * v[i]
    return total
"""

TASK = """
import os
import time

def simulate(number):
    begin, used = time.perf_counter(), time.process_time()
    import kernels
    value = kernels.run(number)
    return value, os.getpid(), time.process_time() - used, time.perf_counter() - begin
"""

RUN = """
def run(number):
    x, v = np.empty(200), np.empty(200)
    start(x, v, number)
    advance(x, v, number)
    return energy(x, v, number)
"""

NUMBA = "import numpy as np\nfrom numba import njit\n" + KERNELS.format(
    declare="@njit(cache=True)", arguments="x, v, number", result=""
)
SAMOVAR = (
    "import numpy as np\nimport samovar as sv\nsv.init(default_fp=sv.f64)\nArray = sv.types.NDArray[sv.f64, 1]\n"
    + KERNELS.format(
        declare="@sv.kernel(serial=True)", arguments="x: Array, v: Array, number: sv.i64", result=" -> sv.f64"
    )
)  # fmt: skip


def by_dask(tasks: int, workers: int, variables: dict[str, str]) -> tuple[list[Any], float]:
    """Run the sweep on Dask: what the tasks returned, and how many were done in a second once workers were warm."""
    import dask
    import distributed

    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": variables}),
        distributed.LocalCluster(workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        from task import simulate

        return timed(lambda numbers: client.gather(client.map(simulate, numbers, pure=False)), tasks)


def by_ray(tasks: int, workers: int, variables: dict[str, str]) -> tuple[list[Any], float]:
    """Run the sweep on Ray."""
    import ray
    from task import simulate

    ray.init(num_cpus=workers, runtime_env={"env_vars": variables}, include_dashboard=False, log_to_driver=False)
    try:
        remote = ray.remote(simulate)
        return timed(lambda numbers: ray.get([remote.remote(number) for number in numbers]), tasks)
    finally:
        ray.shutdown()


def timed(run: Callable[[Iterable[int]], list[Any]], tasks: int) -> tuple[list[Any], float]:
    """Run a few tasks, then all of them with a clock."""
    import time

    first = run(range(8))
    begin = time.perf_counter()
    later = run(range(tasks))
    return first + later, tasks / (time.perf_counter() - begin)


ENGINES = {"dask": by_dask, "ray": by_ray}


class Contender:
    """A library whose workers find its kernels in a certain place."""

    def __init__(self, name: str, source: str, folder: Path) -> None:
        self.name = name
        self.folder = folder / name.replace(" ", "-").replace(",", "")
        self.folder.mkdir()
        (self.folder / "kernels.py").write_text(source + RUN)
        (self.folder / "task.py").write_text(TASK)
        self.runs = 0

    def variables(self) -> dict[str, str]:
        """The environment of a worker in a new run."""
        self.runs += 1
        fresh = str(self.folder / f"cache{self.runs}")
        shared = str(self.folder / "shared")
        found = {"PYTHONPATH": str(self.folder), "OMP_NUM_THREADS": "1", "SAMOVAR_NUM_THREADS": "1"}
        if self.name.startswith("Numba"):
            return found | {"NUMBA_CACHE_DIR": shared if "shared" in self.name else fresh}
        key = (self.folder / "public").read_text()
        return found | {
            "SAMOVAR_OFFLINE_CACHE_FILE_PATH": fresh,
            "SAMOVAR_CACHE_REMOTE": str(self.folder / "tier"),
            "SAMOVAR_CACHE_TRUST": key,
            "SAMOVAR_CACHE_PROGRAM": "sweep",
            "SAMOVAR_BUILD_CACHE_VERSION_ID": "benchmark",
        }

    def prepare(self) -> None:
        """Fill the tier, or the shared directory."""
        variables = {"NUMBA_CACHE_DIR": str(self.folder / "shared")}
        if self.name.startswith("Samovar"):
            from samovar.tiers import generate_key

            (self.folder / "public").write_text(generate_key(str(self.folder / "key")))
            variables = self.variables() | {"SAMOVAR_CACHE_SIGNING_KEY": str(self.folder / "key")}
        subprocess.run(
            [sys.executable, "-c", "import kernels; kernels.run(1)"],
            cwd=self.folder, env=os.environ | variables, check=True,
        )  # fmt: skip


def one_run(contender: Contender, engine: str, tasks: int, workers: int) -> dict[str, Any]:
    """A run in a process of its own, whose output is one line."""
    code = (
        "import json, sys; from fleet_engines import ENGINES\n"
        f"variables = {contender.variables()!r}\n"
        "import os; os.environ.update(variables)\n"
        "if __name__ == '__main__':\n"
        f"    found, rate = ENGINES[{engine!r}]({tasks}, {workers}, variables)\n"
        "    print(json.dumps({'tasks': found, 'rate': rate}))\n"
    )
    script = contender.folder / "run.py"
    script.write_text(code)
    path = os.pathsep.join([str(contender.folder), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, str(script)], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    import json

    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="dask,ray")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    table = Table(title=f"{options.tasks} simulations, {options.workers} workers: medians")
    for heading in ("engine", "kernels", "first task: processor", "clock", "tasks per second"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        contenders = [
            Contender("Samovar, tier", SAMOVAR, Path(folder)),
            Contender("Numba, empty", NUMBA, Path(folder)),
            Contender("Numba, shared", NUMBA, Path(folder)),
        ]
        for contender in contenders:
            contender.prepare()
        for engine in options.engines.split(","):
            expected: list[float] = []
            first: dict[str, list[list[float]]] = {each.name: [] for each in contenders}
            rates: dict[str, list[float]] = {each.name: [] for each in contenders}
            for _ in range(options.runs):
                for contender in contenders:
                    found = one_run(contender, engine, options.tasks, options.workers)
                    values = [each[0] for each in found["tasks"]]
                    expected = expected or values
                    assert all(abs(a - b) <= 1e-9 * abs(b) for a, b in zip(values, expected, strict=True))
                    seen: set[int] = set()
                    for _, process, used, took in found["tasks"]:
                        if process not in seen:
                            seen.add(process)
                            first[contender.name].append([used, took])
                    rates[contender.name].append(found["rate"])
            for name, each in first.items():
                used, took = (statistics.median(column) * 1e3 for column in zip(*each, strict=True))
                table.add_row(engine, name, f"{used:.0f} ms", f"{took:.0f} ms", f"{statistics.median(rates[name]):.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
