"""The loops of the throughput benchmark beyond the first eleven, by families; see `throughput_kernels.entry`."""

from throughput_kernels import elements, images, integers, linear_algebra, particles, reductions, stencils, structures
from throughput_kernels.entry import Entry

ENTRIES: dict[str, Entry] = {
    **linear_algebra.ENTRIES,
    **images.ENTRIES,
    **stencils.ENTRIES,
    **particles.ENTRIES,
    **reductions.ENTRIES,
    **elements.ENTRIES,
    **integers.ENTRIES,
    **structures.ENTRIES,
}
