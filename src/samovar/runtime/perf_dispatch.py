"""`sv.perf_dispatch`: several implementations for one purpose, the fastest of which is used.

Each call runs one of them. The compatible ones are tried in turn and timed; then the fastest runs, until it is time to
measure again. The choice is stored in the cache, and a later process starts with it.
"""

from __future__ import annotations

from time import perf_counter

from samovar.cache import read_choice, write_choice
from samovar.errors import SamovarRuntimeError, SamovarSyntaxError, SamovarTypeError
from samovar.lens import Kind, digest, kind, shape, tensor
from samovar.reflection import class_name, dataclass_fields
from samovar.runtime import configuration, process_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from types import CodeType
    from typing import Any

    from samovar.cache import Store

#: The default number of calls after which all are measured again.
REPEAT_AFTER = 300


class Candidate:
    """One implementation, and the test for the arguments it supports."""

    def __init__(self, run: Callable[..., Any], is_compatible: Callable[..., bool] | None) -> None:
        self.run = run
        self.is_compatible = is_compatible
        self.name: str = getattr(run, "__qualname__", repr(run))


class Trial:
    """The measurements for one geometry."""

    def __init__(self) -> None:
        self.fastest: Candidate | None = None
        self.calls = 0
        self.since = 0.0
        self.runs: dict[Candidate, int] = {}
        self.seconds: dict[Candidate, list[float]] = {}
        self.is_first = True


class PerformanceDispatcher:
    """The result of `sv.perf_dispatch`. Call it like the original function."""

    def __init__(
        self,
        function: Any,
        get_geometry_hash: Callable[..., Hashable] | None,
        first_warmup: int,
        warmup: int,
        active: int,
        repeat_after_count: int | None,
        repeat_after_seconds: float | None,
    ) -> None:
        if repeat_after_count is None and repeat_after_seconds is None:
            repeat_after_count = REPEAT_AFTER
        self.__wrapped__ = function
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        self.candidates: list[Candidate] = []
        self._parameters = _parameters_of(function)
        self._geometry = get_geometry_hash
        self._warmups = {True: first_warmup, False: warmup}
        self._active = max(active, 1)
        self._repeat_count = repeat_after_count or 0
        self._repeat_seconds = repeat_after_seconds or 0.0
        self._trials: dict[Hashable, Trial] = {}

    def register(self, implementation: Any = None, *, is_compatible: Callable[..., bool] | None = None) -> Any:
        """Add an implementation: a kernel or a function. `is_compatible` is called with the arguments of a call."""
        if implementation is None:
            return lambda given: self.register(given, is_compatible=is_compatible)
        if not callable(implementation):
            raise SamovarTypeError(f"register takes a kernel or a function, not a {type(implementation).__name__}")
        parameters = _parameters_of(implementation)
        if parameters is not None and self._parameters is not None and parameters != self._parameters:
            raise SamovarSyntaxError(
                f"{implementation.__qualname__} takes ({', '.join(parameters)}), but {self.__qualname__}, with which it is"
                f" registered, takes ({', '.join(self._parameters)})\n  help: give both the same parameters"
            )
        self.candidates.append(Candidate(implementation, is_compatible))
        self._trials.clear()
        return implementation

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        compatible = self._compatible(arguments, keywords)
        geometry = described(arguments, keywords) if self._geometry is None else self._geometry(*arguments, **keywords)
        key = (geometry, *compatible)
        trial = self._trials.get(key)
        if trial is None:
            trial = self._trials[key] = self._begun(compatible, geometry, arguments, keywords)
        if trial.fastest is not None and not self._is_time_to_measure(trial):
            return trial.fastest.run(*arguments, **keywords)
        return self._measure(trial, compatible, geometry, arguments, keywords)

    def _is_time_to_measure(self, trial: Trial) -> bool:
        trial.calls += 1
        if (0 < self._repeat_count <= trial.calls) or (0 < self._repeat_seconds <= perf_counter() - trial.since):
            trial.fastest, trial.is_first = None, False
            trial.runs.clear()
            trial.seconds.clear()
            return True
        return False

    def _compatible(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Candidate]:
        """The candidates for these arguments. The result holds for these arguments only: what a candidate tests, such as the
        value of a number or a stride, may not be part of the geometry."""
        found = [
            each for each in self.candidates if each.is_compatible is None or each.is_compatible(*arguments, **keywords)
        ]
        if not found:
            raise SamovarRuntimeError(
                f"no implementation registered with {self.__qualname__} is compatible with these arguments\n"
                "  help: register one without is_compatible"
            )
        return found

    def _begun(
        self, compatible: list[Candidate], geometry: Hashable, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Trial:
        """A trial for a new geometry, with the choice of an earlier process if that still applies."""
        trial = Trial()
        store = _store()
        kept = None if store is None else read_choice(store, self._question(compatible, geometry, arguments, keywords))
        named = [each for each in compatible if each.name == kept]
        if named:
            self._choose(trial, named[0])
        return trial

    def _measure(
        self,
        trial: Trial,
        compatible: list[Candidate],
        geometry: Hashable,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> Any:
        """Run the candidate with the fewest runs, and time it once it is warm."""
        if len(compatible) == 1:
            self._choose(trial, compatible[0])
            return compatible[0].run(*arguments, **keywords)
        chosen = min(compatible, key=lambda each: trial.runs.get(each, 0))
        turn = trial.runs.get(chosen, 0)
        start = perf_counter()
        result = chosen.run(*arguments, **keywords)
        seconds = perf_counter() - start
        trial.runs[chosen] = turn + 1
        warmup = self._warmups[trial.is_first]
        if turn >= warmup:
            trial.seconds.setdefault(chosen, []).append(seconds)
        if all(trial.runs.get(each, 0) >= warmup + self._active for each in compatible):
            fastest = min(compatible, key=lambda each: min(trial.seconds[each]))
            self._choose(trial, fastest)
            store = _store()
            if store is not None:
                write_choice(store, self._question(compatible, geometry, arguments, keywords), fastest.name)
            configuration.say(f"{self.__qualname__}: {fastest.name} is the fastest of {len(compatible)}")
        return result

    @staticmethod
    def _choose(trial: Trial, fastest: Candidate) -> None:
        trial.fastest, trial.calls, trial.since = fastest, 0, perf_counter()

    def _question(
        self, compatible: list[Candidate], geometry: Hashable, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> str:
        """The key of a choice: the sources of the candidates, and the geometry. A geometry that contains objects means
        nothing in another process and is replaced by a description of the arguments."""
        portable = geometry if _is_plain(geometry) else described(arguments, keywords)
        written = [(each.name, _written(each.run)) for each in compatible]
        options = configuration.current_options()
        under = (options.num_threads, options.debug, options.fast_math, options.opt_level)
        return f"fastest of {self.__module__}.{self.__qualname__} " + digest([repr((written, portable, under))])


def _store() -> Store | None:
    library = process_cache.library_for(configuration.current_options())
    return None if library is None else library.store


def _parameters_of(function: Any) -> tuple[str, ...] | None:
    code: CodeType | None = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return None if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _written(function: Any) -> str:
    """The behavior of a function, as far as its own code determines it."""
    code: CodeType | None = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    if code is None:
        return class_name(type(function))
    constants = [each for each in code.co_consts if not hasattr(each, "co_code")]
    return digest([code.co_code.hex(), repr(constants), repr(code.co_names)])


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str, bytes)


def described(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Hashable:
    """A description of the arguments as far as time depends on it: types and shapes of arrays, types of numbers."""
    return tuple(map(_described, arguments)), tuple((name, _described(value)) for name, value in keywords.items())


def _described(value: Any) -> Hashable:
    if kind(value) is Kind.TENSOR:
        return str(tensor(value)[0]), shape(value)
    if isinstance(value, (list, tuple)):
        return tuple(map(_described, value))
    fields = dataclass_fields(type(value))
    if fields:
        return class_name(type(value)), tuple((name, _described(getattr(value, name))) for name in fields)
    return class_name(type(value))


def perf_dispatch(
    function: Any = None,
    /,
    *,
    get_geometry_hash: Callable[..., Hashable] | None = None,
    first_warmup: int = 1,
    warmup: int = 0,
    active: int = 1,
    repeat_after_count: int | None = None,
    repeat_after_seconds: float | None = None,
) -> Any:
    """Create a function with several implementations, the fastest of which runs: `register` adds them. They must be
    equivalent; each call runs one of them.

    `get_geometry_hash` computes from the arguments what time depends on; by default the shapes and types of arrays. For each
    geometry, each candidate runs `first_warmup` times, then `active` times with timing. All are measured again after
    `repeat_after_count` calls (default 300) or `repeat_after_seconds`; 0 means never.

    >>> import samovar as sv
    >>> @sv.perf_dispatch
    ... def total(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32: ...
    >>> @total.register
    ... @sv.kernel
    ... def upwards(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    ...     found = 0
    ...     for i in a:
    ...         found += a[i]
    ...     return found
    >>> @total.register(is_compatible=lambda a: a.shape[0] < 100)
    ... def in_python(a):
    ...     return sum(a[i] for i in range(a.shape[0]))
    >>> a = sv.ndarray(sv.i32, 4)
    >>> a.fill(2)
    >>> [total(a) for _ in range(5)]
    [8, 8, 8, 8, 8]
    """

    def decorate(function: Any) -> PerformanceDispatcher:
        return PerformanceDispatcher(
            function, get_geometry_hash, first_warmup, warmup, active, repeat_after_count, repeat_after_seconds
        )

    return decorate if function is None else decorate(function)
