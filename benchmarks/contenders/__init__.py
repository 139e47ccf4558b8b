"""The contenders of the throughput benchmark, one module each.

A module has a `LABEL` and a table `KERNELS`: problem name → a function that takes the problem and returns a call
without arguments which runs the kernel once on the problem's buffers. It is imported only if its library is there.
"""
