"""The options of a process: `sv.init` sets them and the compile stages read them."""

from __future__ import annotations

from samovar._native import DType, f32, i32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Every option with its default. `sv.init` documents their meaning.
DEFAULTS: dict[str, Any] = {
    "arch": "cpu",
    "debug": False,
    "check_out_of_bound": False,
    "check_races": False,
    "fast_math": True,
    "flush_denormals": False,
    "shared_variables": "error",
    "printed_numbers": "python",
    "float_bounds": "error",
    "wide_arguments": "error",
    "literal_locals": "widest",
    "vector_truth": "error",
    "nested_structs": "error",
    "missing_returns": "error",
    "field_margin": 0,
    "lost_gradients": "error",
    "overwritten_values": "error",
    "rounded_halves": "even",
    "opt_level": 2,
    "target": "",
    "default_ip": i32,
    "default_fp": f32,
    "num_threads": 0,
    "random_seed": 0,
    "num_compile_threads": 0,
    "log_level": "warning",
    "print_ir": False,
    "dump_ir": "",
    "kernel_coverage": False,
    "offline_cache": True,
    "offline_cache_file_path": "",
    "offline_cache_max_size": 1 << 30,
    "cache_remote": "",
    "cache_program": "",
    "cache_trust": "",
    "cache_signing_key": "",
    "cache_remote_timeout": 5,
    "src_ll_cache": True,
    "print_non_pure": False,
    "raise_on_templated_floats": False,
    # For tests: names of optional optimizations to disable (`SWITCHES`), separated by spaces.
    "without": "",
}

#: What keeps the functions of long kernels short; without it such a kernel may take long to compile.
CUTS = ("split", "units")
#: The values of `without`: everything that only affects speed. After an internal error a kernel is compiled without
#: (see `samovar.compiler.fallback`), so each has to be correct with and without, alone and in any combination.
SWITCHES = (
    "vectors", "unrolling", "promotion", "elements", "reassociation", "narrow", "floats", "stack", "inline",
    "forward", "prune", "atomics", "conversions", *CUTS,
)  # fmt: skip

#: Options under which messages name files and lines, so that these are part of a kernel's key.
LINE_OPTIONS = ("debug", "check_out_of_bound", "check_races", "kernel_coverage")


def do_lines_count(options: Options) -> bool:
    """Whether files and line numbers are part of the key. Reading options through a recording view records them."""
    return do_messages_count(options) or options.kernel_coverage


def do_messages_count(options: Options) -> bool:
    """Whether messages of checks name their location."""
    return options.debug or options.check_out_of_bound or options.check_races


class Options:
    """A value for every option; immutable."""

    arch: str
    debug: bool
    check_out_of_bound: bool
    check_races: bool
    fast_math: bool
    flush_denormals: bool
    shared_variables: str
    printed_numbers: str
    float_bounds: str
    wide_arguments: str
    literal_locals: str
    vector_truth: str
    nested_structs: str
    missing_returns: str
    field_margin: int
    lost_gradients: str
    overwritten_values: str
    rounded_halves: str
    opt_level: int
    target: str
    default_ip: DType
    default_fp: DType
    num_threads: int
    random_seed: int
    num_compile_threads: int
    log_level: str
    print_ir: bool
    dump_ir: str
    kernel_coverage: bool
    offline_cache: bool
    offline_cache_file_path: str
    offline_cache_max_size: int
    cache_remote: str
    cache_program: str
    cache_trust: str
    cache_signing_key: str
    cache_remote_timeout: int
    src_ll_cache: bool
    print_non_pure: bool
    raise_on_templated_floats: bool
    without: str

    def __init__(self, **values: Any) -> None:
        for name in values:
            if name not in DEFAULTS:
                raise TypeError(f"there is no option {name!r}")
        self.__dict__.update(DEFAULTS, **values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("options are immutable: set them with sv.init")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        changed = (f"{name}={value!r}" for name, value in self.__dict__.items() if value != DEFAULTS[name])
        return f"Options({', '.join(changed)})"


_in_force = Options()


def options_in_force() -> Options:
    """The options that decide the types of values in plain Python: the defaults, or those put in force."""
    return _in_force


def put_in_force(options: Options) -> None:
    """Make plain Python follow these options as well."""
    global _in_force
    _in_force = options
