"""The options of the process: `sv.init`, `sv.reset`, `sv.sync`, and the environment variables behind them.

Setting options forgets everything that was compiled under the old ones; arrays are not touched.
"""

from __future__ import annotations

import os
from _weakref import ref

from samovar import _native, errors, language
from samovar._native import DType, f32, f64, i32, i64
from samovar.errors import SamovarError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from samovar.language import Options

    class LoadedKernel(Protocol):
        """Something that keeps code which was compiled under the options of the time."""

        def forget(self) -> None: ...


cpu = "cpu"
x64 = "x64"
gpu = "gpu"
cuda = "cuda"

#: Options with a fixed set of values. The others are booleans or whole numbers.
CHOICES: dict[str, tuple[Any, ...]] = {
    "arch": (cpu, x64),
    "opt_level": (0, 1, 2, 3),
    "default_ip": (i32, i64),
    "default_fp": (f32, f64),
    "log_level": ("debug", "info", "warning", "error"),
}
_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_GRAPHICS = (gpu, cuda, "vulkan", "metal", "opengl", "amdgpu")

_options: Options | None = None
_generation = 0
#: Not a `WeakSet`, which a warm start would load for nothing else.
_kernels: set[ref[LoadedKernel]] = set()


def init(**options: Any) -> None:
    """Set the options of the process. Calling it is optional; what is not given comes from `SAMOVAR_<NAME>` or the default.

    - `arch`: what to compile for, `sv.cpu`
    - `debug`: check indices, assertions and integer overflow; errors carry file and line
    - `check_out_of_bound`: check indices only
    - `check_races`: report every pair of iterations of a parallel loop that get in each other's way, only
    - `fast_math`: allow reassociation and approximate functions; NaN and infinity keep their meaning
    - `opt_level`: from 0, compile soon, to 3, run fast
    - `default_ip`, `default_fp`: what `int` and `float` mean in kernels, `sv.i32` and `sv.f32`
    - `num_threads`: how many threads a launch may use, 0 for as many as the process may
    - `random_seed`: what the random numbers of kernels begin with, see `sv.seed`
    - `log_level`: "info" says what is compiled, "debug" how long each step took, "error" leaves warnings out
    - `print_ir`: print the IR of each kernel that is compiled
    - `offline_cache`: keep compiled kernels for other processes; without it no file is read or written
    - `offline_cache_file_path`: the directory for them, else the system's place for caches
    - `offline_cache_max_size`: the bytes that they may take; what was not used for longest goes
    - `src_ll_cache`: look kernels up by what they depend on; without it only LLVM's work is kept
    - `print_non_pure`: name each kernel that is not declared with `fastcache=True`
    - `raise_on_templated_floats`: a float whose value is baked into the code is an error

    Everything compiled before is dropped; arrays stay valid.

    >>> import samovar as sv
    >>> sv.init(default_fp=sv.f64, num_threads=1)
    >>> sv.reset()
    """
    _apply(_read(options))


def reset() -> None:
    """Back to the options as they are without `init`, and drop everything that was compiled. Arrays stay valid.

    >>> import samovar as sv
    >>> sv.reset()
    """
    _apply(_read({}))


def seed(number: int) -> None:
    """Begin the random numbers of kernels again. The same launches in the same order then draw the same numbers, on any
    number of threads; each launch draws others. A process begins with `random_seed` of `sv.init`, 0 without it.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def draw() -> sv.f32:
    ...     return sv.random()
    >>> sv.seed(7)
    >>> first, second = draw(), draw()
    >>> sv.seed(7)
    >>> draw() == first != second
    True
    """
    current_options()  # setting them for the first time would set the seed again
    _native.seed(number)


def sync() -> None:
    """Wait until all launches are done. On the CPU a launch returns when it is done, so there is nothing to wait for.

    >>> import samovar as sv
    >>> sv.sync()
    """


def current_options() -> Options:
    """The options in force."""
    if _options is None:
        _adopt(_read({}))  # nothing was compiled under others: there is nothing to forget
    assert _options is not None
    return _options


def warn_once(message: str, about: object = None, told: set[object] | None = None) -> None:
    """Warn about what the user's code did, unless that was done before (see `samovar.errors.warn_once`) or warnings are
    switched off."""
    if current_options().log_level != "error":
        errors.warn_once(message, about=about, told=told)


def generation() -> int:
    """A number that changes whenever the options are set: what was begun under another one is outdated."""
    return _generation


def register(kernel: LoadedKernel) -> None:
    """Have `forget` called when the options change. No reference is kept."""
    _kernels.add(ref(kernel, _kernels.discard))


def registered() -> list[LoadedKernel]:
    """Everything that was registered and is still there."""
    return [kernel for each in list(_kernels) if (kernel := each()) is not None]


def _adopt(options: Options) -> None:
    global _options
    _options = options
    language.put_in_force(options)
    _native.set_threads(options.num_threads)
    _native.seed(options.random_seed)


def _apply(options: Options) -> None:
    global _generation
    _adopt(options)
    _generation += 1
    for kernel in registered():
        kernel.forget()


def _read(given: dict[str, Any]) -> Options:
    """Options from what was given, then the environment, then the defaults."""
    from samovar.language import DEFAULTS as defaults
    from samovar.language import Options

    for name in given:
        if name not in defaults:
            valid = ", ".join(defaults)
            raise SamovarError(f"sv.init has no option {name!r}{_close(name, list(defaults))}\n  valid options: {valid}")
    values: dict[str, Any] = {}
    for name, default in defaults.items():
        variable = f"SAMOVAR_{name.upper()}"
        if name in given:
            values[name] = _checked(name, given[name], default, f"sv.init({name}=…)")
        elif variable in os.environ:
            values[name] = _checked(name, _parsed(name, os.environ[variable], default), default, variable)
    return Options(**values)


def _parsed(name: str, text: str, default: object) -> Any:
    """The value that the text of an environment variable means; the text itself if it means none."""
    if isinstance(default, bool):
        return _TRUTH.get(text.strip().lower(), text)
    if isinstance(default, int):
        return int(text) if text.strip().isdecimal() else text
    if isinstance(default, DType):
        return next((dtype for dtype in CHOICES[name] if dtype.name == text.strip()), text)
    return text.strip() if name in CHOICES else text


def _checked(name: str, value: Any, default: object, where: str) -> Any:
    choices = CHOICES.get(name)
    if choices is not None:
        if (name == "default_ip" and value is int) or (name == "default_fp" and value is float):
            return default
        if any(value is choice or (type(value) in (str, int) and value == choice) for choice in choices):
            return value
        if name == "arch" and value in _GRAPHICS:
            raise SamovarError(f"{where}: {value!r} is not available: samovar compiles for the CPU; use arch=sv.cpu")
        shown = [str(choice) if isinstance(choice, DType) else repr(choice) for choice in choices]
        hint = _close(value, [choice for choice in choices if isinstance(choice, str)])
        raise SamovarError(f"{where}: {value!r} is not one of {', '.join(shown)}{hint}")
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise SamovarError(f"{where}: {value!r} is not one of True, False")
    if isinstance(default, str):
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        raise SamovarError(f"{where}: {value!r} is not a path")
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise SamovarError(f"{where}: {value!r} is not a whole number from 0")


def _close(value: object, valid: list[str]) -> str:
    """Which valid name was probably meant."""
    from difflib import get_close_matches

    close = get_close_matches(value, valid, 1) if isinstance(value, str) else []
    return f": did you mean {close[0]!r}?" if close else ""
