"""Samovar: compute kernels as plain Python functions."""
