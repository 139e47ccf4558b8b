"""Keeping compiled kernels: keys, the store, and what is known about why something was compiled.

Two levels. A decision tree per kernel (salt and code → what to ask) leads to the artifact of a kernel and its answers. Below
them, images are kept by what LLVM was given. Importing this room imports nothing of the compiler.
"""
