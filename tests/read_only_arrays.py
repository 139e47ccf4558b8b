"""Read-only arrays of ours on the memory of a NumPy array. NumPy 1 does not export read-only memory, so the capsule says so
itself."""

from __future__ import annotations

import ctypes

import numpy as np

from samovar.runtime.arrays import Ndarray, from_dlpack

_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype, _pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
#: Of the flags in `DLManagedTensorVersioned`, behind the version, the manager's context and the deleter; and which one.
_FLAGS, _READ_ONLY = 24, 1


def read_only(source: np.ndarray) -> Ndarray:
    """An array of ours that shares the memory and may not write to it; the source becomes read-only as well."""
    capsule = from_dlpack(source).__dlpack__(max_version=(1, 0))
    place = _pointer_in(capsule, b"dltensor_versioned")
    assert place is not None
    ctypes.c_uint64.from_address(place + _FLAGS).value |= _READ_ONLY
    source.flags.writeable = False
    return from_dlpack(capsule)
