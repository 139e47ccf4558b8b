"""Quadrants on the CPU: the kernels of `taichi_family`, with its own fast-math and no cache on disk."""

import quadrants as qd
from threads import THREADS

from contenders.taichi_family import kernels

LABEL = "Quadrants"

qd.init(arch=qd.cpu, cpu_max_num_threads=THREADS, fast_math=True, offline_cache=False, log_level=qd.ERROR)
KERNELS = kernels(qd, THREADS)
