"""The options of the process: `sv.init`, `sv.reset`, `sv.sync`, and the environment variables behind them.

Setting options forgets everything that was compiled under the old ones; arrays are not touched.
"""

from __future__ import annotations

import os
import sys
from _weakref import ref

import samovar.language
from samovar import _native
from samovar._native import DType, f32, f64, i32, i64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from samovar.language import Options

    class LoadedKernel(Protocol):
        """Something that keeps code which was compiled under the options of the time."""

        def forget(self) -> None: ...


cpu = x64 = x86_64 = arm64 = "cpu"
python = "python"
gpu = "gpu"
cuda = "cuda"
vulkan = "vulkan"
metal = "metal"
amdgpu = "amdgpu"

TRACE, DEBUG, INFO, WARN, ERROR, CRITICAL = "trace", "debug", "info", "warn", "error", "critical"

#: Options with a fixed set of values. The others are booleans or whole numbers.
CHOICES: dict[str, tuple[Any, ...]] = {
    "arch": (cpu, python),
    "opt_level": (0, 1, 2, 3),
    "shared_variables": ("error", "serial"),
    "printed_numbers": ("python", "c"),
    "float_bounds": ("error", "truncate"),
    "wide_arguments": ("error", "wrap"),
    "literal_locals": ("widest", "first"),
    "default_ip": (i32, i64),
    "default_fp": (f32, f64),
    "log_level": ("debug", "info", "warning", "error"),
}
_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
#: What the peers compile for, and we do not.
GRAPHICS = (gpu, cuda, vulkan, metal, amdgpu, "opengl", "gles", "dx11", "dx12")
#: Other words for the same value.
_SYNONYMS = {
    "arch": {"x64": cpu, "x86_64": cpu, "arm64": cpu},
    "log_level": {TRACE: "debug", WARN: "warning", CRITICAL: "error"},
}

_options: Options | None = None
#: What was said at log level "info".
_said: set[str] = set()
_generation = 0
#: Was the environment looked through?
_environment_is_known = False
#: Not a `WeakSet`, which a warm start would load for nothing else.
_kernels: set[ref[LoadedKernel]] = set()


@_native.entrance
def init(arch: Any = None, default_fp: Any = None, default_ip: Any = None, **options: Any) -> None:
    """Set the options of the process. Calling it is optional; what is not given comes from `SAMOVAR_<NAME>` or the default.

    - `arch`: what to compile for, `sv.cpu`. One that is not here (`sv.gpu`) is warned of, and the CPU used. With `sv.python`
      nothing is compiled: kernels run as plain Python, for debuggers
    - `debug`: check indices, assertions and integer overflow; errors carry file and line
    - `check_out_of_bound`: check indices only
    - `check_races`: report every pair of iterations of a parallel loop that get in each other's way, only
    - `fast_math`: allow reassociation and approximate functions; NaN and infinity keep their meaning
    - `flush_denormals`: take floats that are too small for full precision for zero, which may be faster
    - `shared_variables`: what becomes of a parallel loop whose iterations assign a variable of the kernel. It is an "error",
      or the loop is "serial", with a warning, as programs of Quadrants and Taichi need it
    - `printed_numbers`: how `print` in kernels writes what has no format: as "python" does, or as "c" does, `1.500000`
    - `float_bounds`: a float as a bound of `range` in a kernel is an "error", or "truncate" leaves its fraction out, with a
      warning
    - `wide_arguments`: an integer that does not fit into the type of its parameter is an "error", or "wrap" keeps the bits
      that fit, with a warning
    - `literal_locals`: the type of a local variable that begins with a plain number, `s = 0.0`: the "widest" that is
      assigned to it, or that of its "first" value, with a warning where an assignment loses something
    - `opt_level`: from 0, compile soon, to 3, run fast; 2, the default, does for each part of a kernel what it is worth
    - `default_ip`, `default_fp`: what `int` and `float` mean in kernels, `sv.i32` and `sv.f32`
    - `num_threads`: how many threads a launch may use, 0 for as many as the process may
    - `random_seed`: what the random numbers of kernels begin with, see `sv.seed`
    - `num_compile_threads`: how many processes LLVM may run in at a time, 0 for as many as the process has processors
    - `log_level`: "info" says what is compiled, "debug" how long each step took, "error" leaves warnings out
    - `print_ir`: print the IR of each kernel that is compiled
    - `dump_ir`: a directory for the IR and the LLVM text of each kernel, which are all compiled for the purpose
    - `kernel_coverage`: note which lines of kernels and funcs run, for coverage.py
    - `offline_cache`: keep compiled kernels for other processes; without it no file is read or written
    - `offline_cache_file_path`: the directory for them, else the system's place for caches
    - `offline_cache_max_size`: the bytes that they may take; what was not used for longest goes
    - `src_ll_cache`: look kernels up by what they depend on; without it only LLVM's work is kept
    - `print_non_pure`: name each kernel that is not declared with `fastcache=True`
    - `raise_on_templated_floats`: a float whose value is baked into the code is an error
    - `without`: names of optional rewrites that are not used, with spaces between them, for tests: "vectors",
      "unrolling", "promotion", "elements", "reassociation", "narrow", "floats", "stack", "inline", "forward",
      "prune", "atomics", "conversions", "split", "units"

    Options of Quadrants and Taichi are taken as well (see docs/names.md): what has a meaning here is done, and what has none
    is named at log level "info". Everything compiled before is dropped; arrays stay valid.

    >>> import samovar as sv
    >>> sv.init(sv.cpu, default_fp=sv.f64, num_threads=1)
    >>> sv.reset()
    """
    first = {"arch": arch, "default_fp": default_fp, "default_ip": default_ip}
    given = {name: value for name, value in first.items() if value is not None} | options
    unknown = [name for name in given if name not in samovar.language.DEFAULTS]
    remarks: list[str] = []
    if unknown or given.get("arch", cpu) != cpu:
        from samovar.runtime.peer_options import translated

        given, remarks = translated(given)
    _apply(_read(given))
    for remark in remarks:
        say_once(remark)


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
        _look_through_environment()
    assert _options is not None
    return _options


def was_initialised() -> bool:
    """Were options set, or needed, since the process began?"""
    return _options is not None


def warn_once(message: str, about: object = None, told: set[object] | None = None) -> None:
    """Warn about what the user's code did, unless that was done before (see `samovar.errors.warn_once`) or warnings are
    switched off."""
    if current_options().log_level != "error":
        from samovar.errors import warn_once as warn

        warn(message, about=about, told=told)


def say_once(message: str) -> None:
    """Say something at log level "info", unless it was said before."""
    if message not in _said and say(message):
        _said.add(message)


def say(message: str) -> bool:
    """Say something at log level "info". Was it said?"""
    effective = current_options().log_level in ("info", "debug")
    if effective:
        print(f"samovar: {message}", file=sys.stderr)
    return effective


def set_logging_level(level: str) -> None:
    """Set the option `log_level` alone: what was compiled stays.

    >>> import samovar as sv
    >>> sv.set_logging_level(sv.ERROR)
    >>> sv.is_logging_effective(sv.WARN)
    False
    >>> sv.reset()
    """
    global _options
    options = current_options()
    checked = _checked("log_level", level, "warning", "sv.set_logging_level")
    _options = samovar.language.Options(**{**vars(options), "log_level": checked})
    samovar.language.put_in_force(_options)


def is_logging_effective(level: str) -> bool:
    """Are messages of a level shown? See `sv.set_logging_level`.

    >>> import samovar as sv
    >>> sv.is_logging_effective("warn"), sv.is_logging_effective("info")
    (True, False)
    """
    order = CHOICES["log_level"]
    checked = _checked("log_level", level, "warning", "sv.is_logging_effective")
    return order.index(checked) >= order.index(current_options().log_level)


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
    samovar.language.put_in_force(options)
    _native.set_threads(options.num_threads)
    _native.wrap_wide_arguments(options.wide_arguments == "wrap")
    _native.seed(options.random_seed)


def _apply(options: Options) -> None:
    global _generation
    _adopt(options)
    _generation += 1
    for kernel in registered():
        kernel.forget()
    _look_through_environment()


def _look_through_environment() -> None:
    """Warn of variables that are probably misspelt, once."""
    global _environment_is_known
    if _environment_is_known:
        return
    _environment_is_known = True
    found = [name for name in os.environ if name.startswith("SAMOVAR_")]
    if [name for name in found if name[len("SAMOVAR_") :].lower() not in samovar.language.DEFAULTS]:
        from samovar.language import complaints

        for complaint in complaints({name: os.environ[name] for name in found}):
            warn_once(complaint)


def _read(given: dict[str, Any]) -> Options:
    """Options from what was given, then the environment, then the defaults."""
    from samovar.language import DEFAULTS as defaults
    from samovar.language import Options

    values: dict[str, Any] = {}
    for name, default in defaults.items():
        variable = f"SAMOVAR_{name.upper()}"
        if name in given:
            values[name] = _checked(name, given[name], default, f"sv.init({name}=…)")
        elif variable in os.environ:
            values[name] = _checked(name, parsed(name, os.environ[variable], default), default, variable)
    return Options(**values)


def parsed(name: str, text: str, default: object) -> Any:
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
        if isinstance(value, str):
            value = _SYNONYMS.get(name, {}).get(value, value)
        if (name == "default_ip" and value is int) or (name == "default_fp" and value is float):
            return default
        if any(value is choice or (type(value) in (str, int) and value == choice) for choice in choices):
            return value
        from samovar.errors import not_one_of

        raise samovar.SamovarError(not_one_of(where, value, choices, _SYNONYMS.get(name, ())))
    if name == "without" and isinstance(value, str):
        from samovar.errors import not_one_of
        from samovar.language import SWITCHES

        for word in value.split():
            if word not in SWITCHES:
                raise samovar.SamovarError(not_one_of(where, word, SWITCHES))
        return value
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise samovar.SamovarError(f"{where}: {value!r} is not one of True, False")
    if isinstance(default, str):
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        raise samovar.SamovarError(f"{where}: {value!r} is not a path")
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise samovar.SamovarError(f"{where}: {value!r} is not a whole number from 0")

