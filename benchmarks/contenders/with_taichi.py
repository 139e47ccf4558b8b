"""Taichi on the CPU: the kernels of `taichi_family`, with its own fast-math and no cache on disk."""

import taichi as ti
from threads import THREADS

from contenders.taichi_family import kernels

LABEL = "Taichi"

ti.init(arch=ti.cpu, cpu_max_num_threads=THREADS, fast_math=True, offline_cache=False, log_level=ti.ERROR)
KERNELS = kernels(ti, THREADS)
