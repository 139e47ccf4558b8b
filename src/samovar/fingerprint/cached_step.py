"""A step whose results are cached by fingerprint.

The key of a result combines the version of the code, the fingerprint of the step, and `key_function` of the input. The first
two are fixed, so they are computed once per instance.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Final, Generic, Protocol, TypeVar

from samovar.fingerprint.deconstruction import metadata
from samovar.fingerprint.file_cache import FileCache, identity
from samovar.fingerprint.fingerprinter import Fingerprinter, lenient_fingerprinter, stable_fingerprinter
from samovar.fingerprint.flights import compute_once
from samovar.version import build_cache_version_id as build_cache_version_id  # re-exported here

__all__ = ["CachedStep", "StepCache"]

Input = TypeVar("Input")
Output = TypeVar("Output")

_MISSING: Final[Any] = object()

#: Fields that carry meaning. A persistent key that skips them would give one program the code of another.
_FIELDS_OF_TYPES: Final = frozenset({"type", "dtype"})


class StepCache(Protocol):
    """The interface that a cached step requires of its cache. A `dict` satisfies it; a cache that outlives the process sets
    `persistent = True`.
    """

    def get(self, key: str, default: Any, /) -> Any: ...

    def __setitem__(self, key: str, value: Any, /) -> None: ...


@dataclass(frozen=True, eq=False)
class CachedStep(Generic[Input, Output]):
    """A step and a cache of its results.

    `step` is a callable; all of its configuration is part of the key. `key_function` derives the rest of the key from the
    input, and is usually a fingerprinter. `cache` defaults to a `dict`. With a `FileCache`, all processes have to agree on
    the keys: the step is then fingerprinted strictly, which rejects lambdas and closures.

    `in_memory` and `persistent` create a step with a cache and a matching key function.

    Calls are thread-safe; a result that several threads request is computed once.

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
        """Create a step that caches results in its own `dict`, as long as the step lives.

        Keys only have to be valid in this process, so the step and its input may contain lambdas and local classes.
        `configuration` sets the fields of a subclass.
        """
        return cls(step, key_function=key_function, **configuration)

    @classmethod
    def persistent(
        cls,
        step: Callable[[Input], Output],
        path: str | os.PathLike[str],
        *,
        encode: Callable[[Output], bytes] = identity,
        decode: Callable[[bytes], Output] = identity,
        key_function: Callable[[Input], Any] = stable_fingerprinter,
        **configuration: Any,
    ) -> CachedStep[Input, Output]:
        """Create a step that caches results as files in the directory `path`, shared with other processes.

        `encode` and `decode` convert a result to bytes and back; results that are bytes need neither. Objects that cannot be
        found by name are rejected: in the step at once, in its input when it is called.

        >>> import tempfile
        >>> from samovar.fingerprint import CachedStep
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     for _ in range(2):
        ...         # Each iteration creates a new step. The second finds the result of the first.
        ...         step = CachedStep.persistent(len, directory, encode=lambda n: b"%d" % n, decode=int)
        ...         print(step("hello"), step.cache.get(step.key_of("hello"), None))
        5 5
        5 5
        """
        return cls(step, key_function=key_function, cache=FileCache(path, encode, decode), **configuration)

    def __post_init__(self) -> None:
        if self.key_function is _MISSING:
            raise TypeError(
                "CachedStep needs a key_function that derives a key from the input: pass key_function=stable_fingerprinter, "
                "or one from make_fingerprinter, or let CachedStep.in_memory or CachedStep.persistent choose one"
            )
        if self.is_persistent:
            _check_persistent_key_function(self.key_function)
            # Checked here and not at the first call, so that the error points at where the step is created.
            _ = self.fixed_key

    def __call__(self, value: Input) -> Output:
        key = self.key_of(value)
        found = self.cache.get(key, _MISSING)
        if found is not _MISSING:
            return found  # type: ignore[no-any-return]
        # Instances that share a directory share its results, even with separate FileCache objects.
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
        """Return the key of the result for an input."""
        return stable_fingerprinter((*self.fixed_key, self.key_function(value)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields only: a copy recomputes its key."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _load_or_compute(self, key: str, value: Input) -> Output:
        # Another thread may have finished since the cache was checked.
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
            raise TypeError(f"a step with a persistent cache needs the same fingerprint in every process: {error}") from None


def _check_persistent_key_function(key_function: Callable[[Any], Any]) -> None:
    if not isinstance(key_function, Fingerprinter):
        return
    options = key_function.deconstructor.options
    if options.array_identities is not None:
        raise ValueError(
            "a persistent cache cannot use keys of arrays by identity, which are not valid in another process"
        )
    skipped = sorted(name for _, names in options.skip for name in names & _FIELDS_OF_TYPES)
    if skipped:
        raise ValueError(
            f"a persistent cache cannot use keys that skip {', '.join(skipped)}: "
            "inputs that differ only in a type would share an entry. Skip only locations"
        )
