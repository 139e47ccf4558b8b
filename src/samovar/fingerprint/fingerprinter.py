"""Fingerprinters: a deconstructor, the traversal and the digest combined.

The traversal runs in `_native`. `Fingerprinter.reference` does the same in Python, for readers and tests; it also handles
graphs with cycles, for which the native one falls back to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from samovar import _native
from samovar.fingerprint.aggregation import digest_level
from samovar.fingerprint.deconstruction import Deconstruction, UnfingerprintableError
from samovar.fingerprint.registry import Deconstructor, make_deconstructor
from samovar.fingerprint.traversal import Fold

__all__ = ["Fingerprinter", "lenient_fingerprinter", "make_fingerprinter", "stable_fingerprinter"]

Result = TypeVar("Result")


class Fingerprinter:
    """A callable from objects to fingerprints, which are 40 hexadecimal digits. Created by `make_fingerprinter`.

    `stable_fingerprinter` is strict, `lenient_fingerprinter` takes lambdas, closures and local classes apart.

    >>> from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter
    >>> stable_fingerprinter({"b": [1], "a": (2.0,)}) == stable_fingerprinter({"a": (2.0,), "b": [1]})
    True
    >>> stable_fingerprinter(1) == stable_fingerprinter(True)
    False
    >>> scale = lambda factor: lambda x: x * factor
    >>> lenient_fingerprinter(scale(2)) == lenient_fingerprinter(scale(2)) != lenient_fingerprinter(scale(3))
    True
    """

    def __init__(
        self, deconstructor: Deconstructor, allow_cycles: bool, memoize: bool = True, name: str | None = None
    ) -> None:
        self.deconstructor = deconstructor
        self.allow_cycles = allow_cycles
        self.memoize = memoize
        self._plans = deconstructor.plans
        self._name = name

    def __call__(self, value: object) -> str:
        try:
            digest = _native.fingerprint_fold(value, self._plans, self.memoize)
        except UnfingerprintableError:
            # The native traversal does not track the path. The Python one fails at the same place and reports it.
            digest = None
        except Exception as error:
            self._note_path(error, value)
            raise
        return self.reference(value) if digest is None else digest.hex()

    def reference(self, value: object) -> str:
        """Return the fingerprint as the Python implementation computes it: the same digits, more slowly."""
        return self.fold(value, digest_level).hex()

    def fold(self, value: object, collapse: Callable[[Deconstruction], Result]) -> Result:
        """Apply another reduction to what this fingerprinter sees.

        An unsupported object raises a `TypeError` that starts with its path. Errors of rules and properties carry the path
        as a note, from Python 3.11 on.
        """
        fold = Fold(self.deconstructor.remembering(), collapse, self.allow_cycles, self.memoize)
        try:
            return fold.run(value)
        except UnfingerprintableError as error:
            path = fold.path()
            raise TypeError(f"{path}: {error}" if path else str(error)) from error.__cause__
        except Exception as error:
            if sys.version_info >= (3, 11):
                error.add_note(f"while fingerprinting {fold.path() or 'the object itself'}")
            raise

    def release_arrays(self) -> None:
        """Release the arrays that were fingerprinted by identity. Their fingerprints change from now on."""
        if self.deconstructor.options.array_identities is not None:
            self.deconstructor.options.array_identities.release()

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._name or (Fingerprinter, (self.deconstructor, self.allow_cycles, self.memoize))

    def _note_path(self, error: Exception, value: object) -> None:
        """Add the note with the path to an error of the native traversal, by running the Python one."""
        if sys.version_info < (3, 11) or isinstance(error, (MemoryError, RecursionError)):
            return
        try:
            self.fold(value, digest_level)
        except Exception as again:
            if type(again) is type(error):
                error.add_note(again.__notes__[-1])


def make_fingerprinter(
    deconstructor: Deconstructor | None = None, *, allow_cycles: bool = True, memoize: bool = True
) -> Fingerprinter:
    """Create a fingerprinter that takes objects apart with `deconstructor`, by default the strict one.

    With `allow_cycles=False` an object that contains itself raises a `ValueError`. With `memoize=False` a shared object is
    taken apart at each occurrence, and objects are held only while they are open. The fingerprint is the same, but the cost
    grows with the number of paths instead of objects.

    >>> from samovar.fingerprint import EmptyDeconstruction, make_deconstructor, make_fingerprinter
    >>> fold_case = lambda text: EmptyDeconstruction("caseless", text.lower().encode())
    >>> caseless = make_fingerprinter(make_deconstructor({str: fold_case}))
    >>> caseless({"A": 1}) == caseless({"a": 1})
    True
    """
    if deconstructor is None:
        deconstructor = make_deconstructor()
    return Fingerprinter(deconstructor, allow_cycles, memoize)


#: The strict fingerprinter: an object without stable content raises a `TypeError`.
stable_fingerprinter = Fingerprinter(make_deconstructor(), True, name="stable_fingerprinter")

#: Like `stable_fingerprinter`, but objects that cannot be found by name are taken apart instead of rejected.
lenient_fingerprinter = Fingerprinter(make_deconstructor(lenient=True), True, name="lenient_fingerprinter")
