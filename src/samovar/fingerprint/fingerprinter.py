"""The fingerprinters: a deconstructor, the traversal and the digest put together.

The traversal runs in `_native`. `Fingerprinter.reference` is the same in Python, for reading and for tests, and it also
walks graphs with cycles, which the native one hands back.
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
    """A callable from objects to fingerprints, which are 40 hexadecimal digits. Made by `make_fingerprinter`.

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
            # The native traversal does not keep track of the path. The other one comes to the same place and tells it.
            digest = None
        except Exception as error:
            self._note_path(error, value)
            raise
        return self.reference(value) if digest is None else digest.hex()

    def reference(self, value: object) -> str:
        """The fingerprint as the Python implementation computes it: the same digits, more slowly."""
        return self.fold(value, digest_level).hex()

    def fold(self, value: object, collapse: Callable[[Deconstruction], Result]) -> Result:
        """Another reduction over what this fingerprinter sees.

        What it refuses is a `TypeError` that starts with the path. Errors of rules and properties have it as a note,
        from Python 3.11 on.
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
        """Let go of the arrays that were fingerprinted by identity. They get other fingerprints from now on."""
        if self.deconstructor.options.array_identities is not None:
            self.deconstructor.options.array_identities.release()

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._name or (Fingerprinter, (self.deconstructor, self.allow_cycles, self.memoize))

    def _note_path(self, error: Exception, value: object) -> None:
        """Give an error of the native traversal the note that the other one adds when it fails in the same way."""
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
    """A fingerprinter that takes objects apart with `deconstructor`, which is the strict one if it is not given.

    With `allow_cycles=False` an object that contains itself is a `ValueError`. With `memoize=False` an object that is
    met again is taken apart again, and none is held longer than it is open. The fingerprint is the same; the cost is
    the number of paths to objects, and not of objects.

    >>> from samovar.fingerprint import EmptyDeconstruction, make_deconstructor, make_fingerprinter
    >>> fold_case = lambda text: EmptyDeconstruction("caseless", text.lower().encode())
    >>> caseless = make_fingerprinter(make_deconstructor({str: fold_case}))
    >>> caseless({"A": 1}) == caseless({"a": 1})
    True
    """
    if deconstructor is None:
        deconstructor = make_deconstructor()
    return Fingerprinter(deconstructor, allow_cycles, memoize)


#: The strict fingerprinter: what has no stable content is a `TypeError`.
stable_fingerprinter = Fingerprinter(make_deconstructor(), True, name="stable_fingerprinter")

#: Like `stable_fingerprinter`, but what no name leads to is taken apart instead of refused.
lenient_fingerprinter = Fingerprinter(make_deconstructor(lenient=True), True, name="lenient_fingerprinter")
