"""The fingerprinters: a deconstructor, the traversal and the digest put together.

The traversal runs in `_native`. `Fingerprinter.reference` is the same in Python, for reading and for tests, and it also
walks graphs with cycles, which the native one hands back.
"""

from __future__ import annotations

from typing import Any

from samovar import _native
from samovar.fingerprint.aggregation import digest_level
from samovar.fingerprint.deconstruction import UnfingerprintableError
from samovar.fingerprint.paths import path_to
from samovar.fingerprint.registry import Deconstructor, make_deconstructor
from samovar.fingerprint.traversal import catabolize

__all__ = ["Fingerprinter", "lenient_fingerprinter", "make_fingerprinter", "stable_fingerprinter"]


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

    def __init__(self, deconstructor: Deconstructor, allow_cycles: bool, name: str | None = None) -> None:
        self.deconstructor = deconstructor
        self.allow_cycles = allow_cycles
        self._name = name

    def __call__(self, value: object) -> str:
        try:
            digest = _native.fingerprint_fold(value, self.deconstructor.plans)
        except UnfingerprintableError as error:
            raise self._at_path(error, value) from error.__cause__
        return self.reference(value) if digest is None else digest.hex()

    def reference(self, value: object) -> str:
        """The fingerprint as the Python implementation computes it: the same digits, more slowly."""
        try:
            digest = catabolize(
                value,
                deconstruct=self.deconstructor.remembering(),
                collapse=digest_level,
                allow_cycles=self.allow_cycles,
            )
        except UnfingerprintableError as error:
            raise self._at_path(error, value) from error.__cause__
        return digest.hex()

    def release_arrays(self) -> None:
        """Let go of the arrays that were fingerprinted by identity. They get other fingerprints from now on."""
        if self.deconstructor.options.array_identities is not None:
            self.deconstructor.options.array_identities.release()

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._name or (Fingerprinter, (self.deconstructor, self.allow_cycles))

    def _at_path(self, error: UnfingerprintableError, root: object) -> TypeError:
        path = path_to(error.subject, root, self.deconstructor)
        return TypeError(f"{path}: {error}" if path else str(error))


def make_fingerprinter(deconstructor: Deconstructor | None = None, *, allow_cycles: bool = True) -> Fingerprinter:
    """A fingerprinter that takes objects apart with `deconstructor`, which is the strict one if it is not given.

    With `allow_cycles=False` an object that contains itself is a `ValueError`.

    >>> from samovar.fingerprint import EmptyDeconstruction, make_deconstructor, make_fingerprinter
    >>> fold_case = lambda text: EmptyDeconstruction("caseless", text.lower().encode())
    >>> caseless = make_fingerprinter(make_deconstructor({str: fold_case}))
    >>> caseless({"A": 1}) == caseless({"a": 1})
    True
    """
    if deconstructor is None:
        deconstructor = make_deconstructor()
    return Fingerprinter(deconstructor, allow_cycles)


#: The strict fingerprinter: what has no stable content is a `TypeError`.
stable_fingerprinter = Fingerprinter(make_deconstructor(), True, "stable_fingerprinter")

#: Like `stable_fingerprinter`, but what no name leads to is taken apart instead of refused.
lenient_fingerprinter = Fingerprinter(make_deconstructor(lenient=True), True, "lenient_fingerprinter")
