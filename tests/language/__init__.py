"""The language, seen from outside: what kernels compute, against NumPy, mpmath and plain Python."""
