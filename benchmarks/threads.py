"""The number of threads, the same for every contender. Import this before any of them: most read it when loaded."""

import os

THREADS = int(os.environ.get("BENCH_THREADS", len(os.sched_getaffinity(0))))

for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "SAMOVAR_NUM_THREADS"):
    os.environ[variable] = str(THREADS)
