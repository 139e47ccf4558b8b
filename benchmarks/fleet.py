"""What a cold worker with an empty disk and a warm tier costs, and what a store sees of a fleet that starts at once.

    python benchmarks/fleet.py [--kernels 100] [--runs 7] [--latency 1.0] [--workers 1000,10000] [--s3]

Measured: the time until a program has launched so many kernels once, and the processor time of its whole process, with an
empty cache directory and each kind of tier (a folder; a web server on loopback that answers after the latency, in
milliseconds; with `--s3` moto's S3 server), minus those of the same program with a local cache that is warm, in turn.
Medians. What is fetched is stored in the local directory after the launches, which the whole includes.

Simulated: workers that start within a second, each with the requests and bytes measured, one request after the other.
The model is a queue before the store: it serves so many requests per second (`--rate`; 5,500 is what S3 documents
for reads of one prefix), each takes `--store-latency`, and the bytes of all share its bandwidth (`--bandwidth`) and those
of each worker its own. It leaves out retries, throttling, caches between, and connections that have to be opened.
"""

import argparse
import heapq
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cold_program import program
from rich.console import Console
from rich.table import Table

from samovar.cache import Store
from samovar.tiers import generate_key, read_figures


@dataclass(frozen=True)
class Cost:
    """Of one kind of start: seconds by the clock and of the processor until all kernels were launched, processor seconds of
    the whole process, requests and bytes."""

    wall: float
    processor: float
    whole: float
    requests: int = 0
    received: int = 0


MAIN = """
import kernels, time
print(time.monotonic(), time.process_time())
"""


class Program:
    """A program with many kernels in a module of its own, and a key."""

    def __init__(self, folder: Path, kernels: int) -> None:
        self.folder = folder
        (folder / "kernels.py").write_text(program("Samovar", kernels))
        (folder / "main.py").write_text(MAIN)
        self.key_file = str(folder / "key")
        self.key = generate_key(self.key_file)
        self.number = 0

    def run(self, directory: Path, **variables: str) -> Cost:
        """Run it once with a cache directory."""
        before, begun = os.times(), time.monotonic()
        # An installed package has compiled modules.
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(
            [sys.executable, "main.py"],
            cwd=self.folder,
            env={
                **inherited,
                "XDG_CONFIG_HOME": str(self.folder / "configuration"),
                "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory),
                "SAMOVAR_CACHE_PROGRAM": "benchmark",
                "SAMOVAR_BUILD_CACHE_VERSION_ID": "benchmark",
                **variables,
            },
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        after = os.times()
        launched, processor = map(float, done.stdout.splitlines()[-1].split())
        whole = after.children_user + after.children_system - before.children_user - before.children_system
        figures = list(read_figures(Store(str(directory), 1 << 30, print)).values())
        requests, received = sum(each.requests for each in figures), sum(each.received for each in figures)
        return Cost(launched - begun, processor, whole, requests, received)

    def fresh(self) -> Path:
        """A directory that does not exist."""
        self.number += 1
        return self.folder / f"cache{self.number}"

    def publish(self, address: str, **variables: str) -> None:
        """Fill a tier."""
        self.run(self.fresh(), SAMOVAR_CACHE_REMOTE=address, SAMOVAR_CACHE_SIGNING_KEY=self.key_file,
                 SAMOVAR_CACHE_REMOTE_TIMEOUT="60", **variables)  # fmt: skip

    def work(self, address: str, **variables: str) -> Cost:
        """Start as a worker with an empty disk."""
        return self.run(self.fresh(), SAMOVAR_CACHE_REMOTE=address, SAMOVAR_CACHE_TRUST=self.key,
                        SAMOVAR_CACHE_REMOTE_TIMEOUT="60", **variables)  # fmt: skip


@contextmanager
def web_server(folder: str, seconds: float) -> Iterator[str]:
    """A web server on loopback that answers after some time."""

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __init__(self, *given: object) -> None:
            super().__init__(*given, directory=folder)  # type: ignore[arg-type]

        def do_GET(self) -> None:
            time.sleep(seconds)
            super().do_GET()

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Moto's S3 server on loopback: the variables that lead to it."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    os.environ.update(variables)
    boto3.client("s3").create_bucket(Bucket="fleet")
    yield variables
    server.stop()


def measured(folder: Path, options: argparse.Namespace) -> dict[str, list[Cost]]:
    """Runs of each kind, in turn."""
    own = Program(folder, options.kernels)
    tier, local = str(folder / "tier"), folder / "local"
    own.publish(tier)
    own.run(local)
    kinds = {"local, warm": lambda: own.run(local), "folder": lambda: own.work(tier)}
    found: dict[str, list[Cost]] = {}
    with web_server(tier, options.latency * 1e-3) as web:
        kinds[f"web server, {options.latency} ms"] = lambda: own.work(web)
        if options.s3:
            with s3_server():
                own.publish("s3://fleet/kernels")
                kinds["S3 (moto)"] = lambda: own.work("s3://fleet/kernels")
                rounds(kinds, options.runs, found)
        else:
            rounds(kinds, options.runs, found)
    return found


def rounds(kinds: dict, runs: int, found: dict[str, list[Cost]]) -> None:
    """Run all kinds, in turn."""
    for _ in range(runs):
        for name, run in kinds.items():
            found.setdefault(name, []).append(run())


def simulated(workers: int, cost: Cost, options: argparse.Namespace) -> tuple[float, float]:
    """The most requests within a second, and the seconds until the last worker is warm."""
    numbers = random.Random(1)
    size = cost.received / max(cost.requests, 1)
    # The time at which a worker makes its next request, and how many are left.
    waiting = [(numbers.random(), cost.requests) for _ in range(workers)]
    heapq.heapify(waiting)
    arrivals: list[float] = []
    free = done = 0.0
    while waiting:
        now, left = heapq.heappop(waiting)
        arrivals.append(now)
        begun = max(now, free)
        # The store is busy for the longer of what its rate and its bandwidth allow.
        free = begun + max(1 / options.rate, size / options.bandwidth)
        answered = begun + options.store_latency * 1e-3 + size / options.worker_bandwidth
        if left > 1:
            heapq.heappush(waiting, (answered, left - 1))
        done = max(done, answered)
    most = begin = 0
    for end, arrival in enumerate(arrivals):
        while arrivals[begin] < arrival - 1:
            begin += 1
        most = max(most, end - begin + 1)
    return float(most), done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--s3", action="store_true")
    parser.add_argument("--workers", default="1000,10000")
    parser.add_argument("--rate", type=float, default=5500)
    parser.add_argument("--store-latency", type=float, default=20.0)
    parser.add_argument("--bandwidth", type=float, default=10e9 / 8)
    parser.add_argument("--worker-bandwidth", type=float, default=1e9 / 8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), options)
    table = Table(title=f"{options.kernels} kernels, an empty disk: medians of {options.runs} runs")
    columns = ("wall", "processor", "whole")
    headings = ("launched: clock", "processor", "whole")
    for heading in ("tier", *headings, *(f"+ {heading}" for heading in headings), "requests", "bytes"):
        table.add_column(heading, justify="right")
    local = found["local, warm"]
    for name, costs in found.items():
        own = [statistics.median(getattr(each, column) for each in costs) for column in columns]
        more = [
            statistics.median(getattr(each, column) - getattr(base, column) for each, base in zip(costs, local, strict=True))
            for column in columns
        ]
        cells = [f"{value * 1e3:.0f} ms" for value in (*own, *more)]
        table.add_row(name, *cells, str(costs[-1].requests), f"{costs[-1].received:,}")
    Console().print(table)
    cost = next(costs[-1] for name, costs in found.items() if name.startswith("web"))
    for workers in map(int, options.workers.split(",")):
        most, seconds = simulated(workers, cost, options)
        print(f"{workers} workers at once: at most {most:.0f} requests in a second, all are warm after {seconds:.2f} s")


if __name__ == "__main__":
    main()
