"""A step whose results are kept by fingerprint.

The key of a result is the version of the code, the fingerprint of the step, and what `key_function` makes of the input.
The first two do not change, so they are computed once per instance.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Final, Generic, Protocol, TypeVar

from samovar.fingerprint.deconstruction import metadata
from samovar.fingerprint.file_cache import FileCache, as_it_is
from samovar.fingerprint.fingerprinter import Fingerprinter, lenient_fingerprinter, stable_fingerprinter
from samovar.fingerprint.flights import compute_once
from samovar.version import build_cache_version_id as build_cache_version_id  # it is offered here as well

__all__ = ["CachedStep", "StepCache"]

Input = TypeVar("Input")
Output = TypeVar("Output")

_MISSING: Final[Any] = object()

#: Fields that say what a program means. A persistent key that skips them would give one program the code of another.
_FIELDS_OF_TYPES: Final = frozenset({"type", "dtype"})


class StepCache(Protocol):
    """What a cached step needs of its cache. A `dict` will do; one that outlives the process has `persistent =
    True`.
    """

    def get(self, key: str, default: Any, /) -> Any: ...

    def __setitem__(self, key: str, value: Any, /) -> None: ...


@dataclass(frozen=True, eq=False)
class CachedStep(Generic[Input, Output]):
    """A step and a cache of its results.

    `step` is a callable with whatever configuration it carries: all of it is part of the key. `key_function` makes the
    rest of the key from the input; a fingerprinter is the usual choice. `cache` is a `dict` if nothing else is given.
    With a `FileCache`, every process has to agree on the keys: then the step is fingerprinted strictly, and a lambda or
    a closure is refused.

    `in_memory` and `persistent` make a step with a cache and the key function that goes with it.

    Many threads may call at once; a result that several ask for is computed once.

    >>> from samovar.fingerprint import CachedStep
    >>> def shout(text):
    ...     print("shouting")
    ...     return text.upper()
    >>> step = CachedStep.in_memory(shout)
    >>> step("hello"), step("hello")
    shouting
    ('HELLO', 'HELLO')
    """

    step: Callable[[Input], Output]
    key_function: Callable[[Input], Any] = field(
        default=_MISSING, repr=False, kw_only=True, metadata=metadata(fingerprint=False)
    )
    cache: StepCache = field(
        default_factory=dict[str, Any], repr=False, kw_only=True, metadata=metadata(fingerprint=False)
    )

    @classmethod
    def in_memory(
        cls,
        step: Callable[[Input], Output],
        *,
        key_function: Callable[[Input], Any] = lenient_fingerprinter,
        **configuration: Any,
    ) -> CachedStep[Input, Output]:
        """A step whose results are kept in a `dict` of its own, as long as the step lives.

        Keys need not mean anything to another process, so lambdas and local classes may be in the step and in its input.
        `configuration` is for the fields of a subclass.
        """
        return cls(step, key_function=key_function, **configuration)

    @classmethod
    def persistent(
        cls,
        step: Callable[[Input], Output],
        path: str | os.PathLike[str],
        *,
        encode: Callable[[Output], bytes] = as_it_is,
        decode: Callable[[bytes], Output] = as_it_is,
        key_function: Callable[[Input], Any] = stable_fingerprinter,
        **configuration: Any,
    ) -> CachedStep[Input, Output]:
        """A step whose results are kept in files of the directory `path`, for other processes too.

        `encode` and `decode` turn a result into bytes and back; results that are bytes need neither. What no name leads
        to is refused, in the step at once and in its input when it is called.

        >>> import tempfile
        >>> from samovar.fingerprint import CachedStep
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     for _ in range(2):
        ...         # Each is a step of its own. The second finds what the first has left.
        ...         step = CachedStep.persistent(len, directory, encode=lambda n: b"%d" % n, decode=int)
        ...         print(step("hello"), step.cache.get(step.key_of("hello"), None))
        5 5
        5 5
        """
        return cls(step, key_function=key_function, cache=FileCache(path, encode, decode), **configuration)

    def __post_init__(self) -> None:
        if self.key_function is _MISSING:
            raise TypeError(
                "CachedStep needs a key_function that makes a key from the input: pass key_function=stable_fingerprinter, "
                "or one from make_fingerprinter, or let CachedStep.in_memory or CachedStep.persistent choose one"
            )
        if self.is_persistent:
            _check_persistent_key_function(self.key_function)
            # At once and not at the first call: a step that cannot be kept on disk is a mistake where it is made.
            _ = self.fixed_key

    def __call__(self, value: Input) -> Output:
        key = self.key_of(value)
        found = self.cache.get(key, _MISSING)
        if found is not _MISSING:
            return found  # type: ignore[no-any-return]
        # Instances that share a directory share its results, even if each has its own FileCache.
        directory = getattr(self.cache, "directory", None)
        place = os.path.abspath(directory) if isinstance(directory, (str, os.PathLike)) else id(self.cache)
        return compute_once((place, key), lambda: self._load_or_compute(key, value))

    @property
    def is_persistent(self) -> bool:
        """Whether the results outlive the process."""
        return bool(getattr(self.cache, "persistent", False))

    @property
    def fixed_key(self) -> tuple[str, str]:
        """The part of the key that does not depend on the input: the version and the fingerprint of the step."""
        fixed: tuple[str, str] | None = self.__dict__.get("_fixed_key")
        if fixed is None:
            fixed = (build_cache_version_id(), self._fingerprint_of_step())
            object.__setattr__(self, "_fixed_key", fixed)
        return fixed

    def key_of(self, value: Input) -> str:
        """The key under which the result for an input is kept."""
        return stable_fingerprinter((*self.fixed_key, self.key_function(value)))

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: a copy works its key out for itself."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _load_or_compute(self, key: str, value: Input) -> Output:
        # Another thread may have finished since the cache was asked.
        found = self.cache.get(key, _MISSING)
        if found is not _MISSING:
            return found  # type: ignore[no-any-return]
        result = self.step(value)
        self.cache[key] = result
        return result

    def _fingerprint_of_step(self) -> str:
        if not self.is_persistent:
            return lenient_fingerprinter(self)
        try:
            return stable_fingerprinter(self)
        except TypeError as error:
            raise TypeError(f"a step with a persistent cache has to mean the same in every process: {error}") from None


def _check_persistent_key_function(key_function: Callable[[Any], Any]) -> None:
    if not isinstance(key_function, Fingerprinter):
        return
    options = key_function.deconstructor.options
    if options.array_identities is not None:
        raise ValueError(
            "a persistent cache cannot use keys of arrays by identity, which mean nothing to another process"
        )
    skipped = sorted(name for _, names in options.skip for name in names & _FIELDS_OF_TYPES)
    if skipped:
        raise ValueError(
            f"a persistent cache cannot use keys that skip {', '.join(skipped)}: "
            "inputs that are equal but for a type would share an entry. Skip locations only"
        )
