"""The options of the process: `sv.init`, `sv.reset`, `sv.sync`, and the environment variables behind them.

Setting options drops everything compiled under the old ones; arrays are not affected.
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
        """An object that holds code compiled under the options of the time."""

        def forget(self) -> None: ...


cpu = x64 = x86_64 = arm64 = "cpu"
python = "python"
gpu = "gpu"
cuda = "cuda"
vulkan = "vulkan"
metal = "metal"
amdgpu = "amdgpu"

TRACE, DEBUG, INFO, WARN, ERROR, CRITICAL = "trace", "debug", "info", "warn", "error", "critical"

#: Options with a fixed set of values. The others are booleans or integers.
CHOICES: dict[str, tuple[Any, ...]] = {
    "arch": (cpu, python),
    "opt_level": (0, 1, 2, 3),
    "shared_variables": ("error", "serial"),
    "printed_numbers": ("python", "c"),
    "float_bounds": ("error", "truncate"),
    "wide_arguments": ("error", "wrap"),
    "literal_locals": ("widest", "first"),
    "vector_truth": ("error", "entries"),
    "nested_structs": ("error", "first"),
    "missing_returns": ("error", "zero"),
    "lost_gradients": ("error", "zero"),
    "overwritten_values": ("error", "last"),
    "rounded_halves": ("even", "away"),
    "default_ip": (i32, i64),
    "default_fp": (f32, f64),
    "log_level": ("debug", "info", "warning", "error"),
}
_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
#: Targets of Taichi and Quadrants that are not supported.
GRAPHICS = (gpu, cuda, vulkan, metal, amdgpu, "opengl", "gles", "dx11", "dx12")
#: Synonyms of values.
_SYNONYMS = {
    "arch": {"x64": cpu, "x86_64": cpu, "arm64": cpu},
    "log_level": {TRACE: "debug", WARN: "warning", CRITICAL: "error"},
}

_options: Options | None = None
#: What was logged at level "info".
_said: set[str] = set()
_generation = 0
#: Whether the environment has been checked.
_environment_is_known = False
#: Not a `WeakSet`, which a warm start would not load otherwise.
_kernels: set[ref[LoadedKernel]] = set()


@_native.api_boundary
def init(arch: Any = None, default_fp: Any = None, default_ip: Any = None, **options: Any) -> None:
    """Set the options of the process. Calling it is optional; other options come from `SAMOVAR_<NAME>` or the defaults.

    - `arch`: the target, `sv.cpu`. Unsupported ones (`sv.gpu`) raise a warning, and the CPU is used. With `sv.python`
      nothing is compiled: kernels run as plain Python, for debuggers
    - `debug`: check indices, assertions and integer overflow; errors carry file and line
    - `check_out_of_bound`: check indices only
    - `check_races`: detect data races only
    - `fast_math`: allow reassociation and approximate functions; NaN and infinity keep their meaning
    - `flush_denormals`: treat denormal floats as zero, which may be faster
    - `shared_variables`: a parallel loop whose iterations assign a variable of the kernel is an "error", or runs "serial",
      with a warning, as Quadrants and Taichi do
    - `printed_numbers`: the number formats of `print` in kernels: those of "python", or those of "c", `1.500000` by default
    - `float_bounds`: a float as a bound of `range` in a kernel is an "error", or is truncated ("truncate"), with a
      warning
    - `wide_arguments`: an integer argument that does not fit the type of its parameter, and a constant that does not fit
      where a kernel stores it, is an "error", or wraps ("wrap"), with a warning
    - `literal_locals`: the type of a local variable initialized with a plain number, `s = 0.0`: the "widest" assigned to
      it, or that of its "first" value, with a warning for lossy assignments
    - `vector_truth`: `and`, `or` and `not` of vectors and matrices in kernels are an "error", or apply to the truth of their
      "entries"; in plain Python, the truth value of a vector is then True, as that of other objects
    - `nested_structs`: a number for a member that is a struct, in a constructor, is an "error", or the value of the "first"
      member of that struct
    - `missing_returns`: an `sv.real_func` that returns a value on some paths but not on others is an "error", or returns
      "zero" on these
    - `field_margin`: the number of unused bytes before and after each field, in which indices slightly out of bounds do no
      harm
    - `lost_gradients`: a derivative through an array that has no gradient, but is written from arrays with one, is an
      "error", or "zero", with a warning
    - `overwritten_values`: a gradient that needs a value that the same launch may overwrite, without a tape, is an "error",
      or uses the "last" value, which is what memory holds when the gradient is computed, with a warning
    - `rounded_halves`: `round` in kernels takes halves to the "even" neighbor, or "away" from zero
    - `opt_level`: 0 (fastest compile) to 3 (most optimization); 2, the default, chooses per part of a kernel
    - `target`: compile for all machines of an architecture level, "x86-64-v2" to "x86-64-v4", or for a processor by LLVM's
      name, instead of for this machine
    - `default_ip`, `default_fp`: the types of `int` and `float` in kernels; `sv.i32` and `sv.f32` by default
    - `num_threads`: the number of threads of a launch; 0 for all that the process may use
    - `random_seed`: the seed of the random numbers of kernels, see `sv.seed`
    - `num_compile_threads`: the number of processes for LLVM; 0 for one per processor
    - `log_level`: "info" logs what is compiled, "debug" also the time of each step; "error" suppresses warnings
    - `print_ir`: print the IR of each compiled kernel
    - `dump_ir`: a directory for the IR and LLVM IR of each kernel; disables loading from the cache
    - `kernel_coverage`: record which lines of kernels and funcs run, for coverage.py
    - `offline_cache`: cache compiled kernels on disk; without it no file is read or written
    - `offline_cache_file_path`: the cache directory; by default the system's cache directory
    - `offline_cache_max_size`: size limit in bytes; least recently used entries are evicted
    - `cache_remote`: addresses of shared cache tiers, separated by spaces: "s3://bucket/prefix", "https://…", a folder;
      see docs/fleets.md
    - `cache_program`: the name under which tiers hold the kernels of this program; by default that of the script
    - `cache_trust`: the public keys whose entries are used, or a file of them, besides the user's file of trusted keys
    - `cache_signing_key`: makes the process a publisher: the file of a private key, "variable:NAME" or "command:COMMAND"
    - `cache_remote_timeout`: the seconds that all launches of the process together wait for tiers
    - `src_ll_cache`: look kernels up by their dependencies; without it only LLVM's output is cached
    - `print_non_pure`: report each kernel that is not declared with `fastcache=True`
    - `raise_on_templated_floats`: specializing a kernel on the value of a float is an error
    - `without`: optional optimizations to disable, separated by spaces, for tests: "vectors",
      "unrolling", "promotion", "elements", "reassociation", "narrow", "floats", "stack", "inline", "forward",
      "prune", "atomics", "conversions", "split", "units"

    Options of Quadrants and Taichi are accepted as well (see docs/names.md): those without a counterpart are reported
    at log level "info". Everything compiled before is dropped; arrays stay valid.

    >>> import samovar as sv
    >>> sv.init(sv.cpu, default_fp=sv.f64, num_threads=1)
    >>> sv.reset()
    """
    first = {"arch": arch, "default_fp": default_fp, "default_ip": default_ip}
    given = {name: value for name, value in first.items() if value is not None} | options
    unknown = [name for name in given if name not in samovar.language.DEFAULTS]
    warnings: list[str] = []
    if unknown or given.get("arch", cpu) != cpu:
        from samovar.runtime.peer_options import translated

        given, warnings = translated(given)
    _apply(_read(given))
    for warning in warnings:
        say_once(warning)


def reset() -> None:
    """Restore the options as without `init`, and drop everything that was compiled. Arrays stay valid.

    >>> import samovar as sv
    >>> sv.reset()
    """
    _apply(_read({}))


def seed(number: int) -> None:
    """Seed the random numbers of kernels. The same launches in the same order then draw the same numbers, on any
    number of threads; each launch draws others. The initial seed is `random_seed` of `sv.init`, by default 0.

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
    """Wait until all launches are done. On the CPU a launch returns when it is done, so this returns at once.

    >>> import samovar as sv
    >>> sv.sync()
    """


def current_options() -> Options:
    """The options in force."""
    if _options is None:
        _adopt(_read({}))  # nothing has been compiled: there is nothing to drop
        _look_through_environment()
    assert _options is not None
    return _options


def was_initialized() -> bool:
    """Whether options were set or needed since the process started."""
    return _options is not None


def warn_once(message: str, about: object = None, warned: set[object] | None = None) -> None:
    """Warn about user code once (see `samovar.errors.warn_once`), unless warnings are
    suppressed."""
    if current_options().log_level != "error":
        from samovar.errors import warn_once as warn

        warn(message, about=about, warned=warned)


def say_once(message: str) -> None:
    """Log a message at level "info", once."""
    if message not in _said and say(message):
        _said.add(message)


def say(message: str) -> bool:
    """Log a message at level "info". Returns whether it was logged."""
    effective = current_options().log_level in ("info", "debug")
    if effective:
        print(f"samovar: {message}", file=sys.stderr)
    return effective


def set_logging_level(level: str) -> None:
    """Set only the option `log_level`: compiled code is kept.

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
    """Whether messages of a level are shown, see `sv.set_logging_level`.

    >>> import samovar as sv
    >>> sv.is_logging_effective("warn"), sv.is_logging_effective("info")
    (True, False)
    """
    order = CHOICES["log_level"]
    checked = _checked("log_level", level, "warning", "sv.is_logging_effective")
    return order.index(checked) >= order.index(current_options().log_level)


def generation() -> int:
    """A number that changes whenever the options are set: work started under another one is outdated."""
    return _generation


def register(kernel: LoadedKernel) -> None:
    """Call `forget` of a kernel when the options change. Only a weak reference is held."""
    _kernels.add(ref(kernel, _kernels.discard))


def registered() -> list[LoadedKernel]:
    """All registered objects that still exist."""
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
    """Warn once about variables that are probably misspelled."""
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
    """Options from the arguments, then the environment, then the defaults."""
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
    """The value of an environment variable's text; the text itself if it is invalid."""
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
    if name == "target":
        return _checked_target(value, where)
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
    raise samovar.SamovarError(f"{where}: {value!r} is not a non-negative integer")


def _checked_target(value: Any, where: str) -> str:
    if value == "":
        return ""
    from samovar.language import can_run, target_names

    if value not in target_names():
        from samovar.errors import not_one_of

        raise samovar.SamovarError(not_one_of(where, value, target_names()))
    if not can_run(value):
        raise samovar.SamovarError(
            f"{where}: this processor, {_native.cpu_name()}, cannot run code for {value}\n"
            "  help: choose a lower level, such as x86-64-v2"
        )
    return str(value)
