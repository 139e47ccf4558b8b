"""Calls of plain Python functions: they run at compile time, and their arguments go through the lens."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from samovar._native import f64, i64
from samovar.frontend.dispatch import call_value, stage
from samovar.frontend.operators import BINARY, binary
from samovar.frontend.rules import INTRINSICS, Call, Rule, unpacked
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.outside import Inherited, Outside
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.lens import Kind, Ref


def plain_arguments(stager: Stager, node: ast.Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments of a plain function."""
    positional: list[Any] = []
    for argument in node.args:
        values = unpacked(stager, argument) if isinstance(argument, ast.Starred) else (stage(stager, argument),)
        positional.extend(value.as_outside_argument(stager, argument) for value in values)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not supported in kernels", "pass each argument by name")
        keywords[keyword.arg] = stage(stager, keyword.value).as_outside_argument(stager, keyword.value)
    return tuple(positional), keywords


def call_plainly(stager: Stager, name: str, node: ast.Call) -> Staged:
    """Call a function that kernels do not implement, inside `static`, as Python does."""
    positional, keywords = plain_arguments(stager, node)
    return stager.open(stager.context.lens.operate(name, *positional, **keywords), node)


def compiled_plainly(stager: Stager, ref: Ref, node: ast.Call) -> Callee:
    """A plain function as a func, as if it were decorated. Its annotations are ignored, as in Python."""
    name = ast.unparse(node.func)
    stager.warn(
        node,
        f"`{name}` is a plain Python function and is compiled like a func\n"
        "  help: decorate it with `@sv.func`, or call it inside `sv.static(...)` to run it at compile time",
    )
    if not ref.is_bound():
        return Callee(ref.function())
    function, owner = ref.method()
    function.kind()
    return Callee(function.function(), stager.open(owner, node))


def require_static(stager: Stager, name: str, node: ast.AST) -> None:
    """Check that a function without Python source is called inside `static`."""
    if stager.static_depth == 0:
        stager.fail_type(
            node,
            f"`{name}` is a built-in function and cannot be compiled",
            "call it inside `sv.static(...)` to run it at compile time, or write a `@sv.func` for it",
        )


#: Functions of NumPy, torch and samovar that create arrays.
ALLOCATING = frozenset(
    "arange array asarray concatenate copy empty empty_like eye field full full_like linspace ndarray ones ones_like stack"
    " tensor zeros zeros_like".split()
)


#: Advice for functions of Python modules.
INSTEAD = {
    "random": "use `sv.random()`, `sv.randn()` or `sv.randint(...)`",
    "time": "call it before or after the launch; `sv.profiler()` measures kernels",
}

#: Advice for built-in functions, and for those of debuggers.
INSTEAD_OF = {
    "sorted": "sort an array with `sv.algorithms.parallel_sort(x)` from Python; use `min` and `max` for a few numbers",
    "breakpoint": "`sv.init(arch=sv.python)` runs kernels as plain Python, where debuggers work; or `print` the values",
    "set_trace": "`sv.init(arch=sv.python)` runs kernels as plain Python, where debuggers work; or `print` the values",
    "input": "call it before the launch, and pass the result as an argument",
    "open": "read the file before the launch, and pass an array",
    "id": "objects exist only at compile time: compare them with `sv.static(a is b)`",
    "iter": "write a loop: `for i in range(n)`",
    "next": "write a loop: `for i in range(n)`",
    "eval": "call it inside `sv.static(...)` to run it at compile time",
    "exec": "call it outside the kernel",
}

CHANGING = ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "setdefault", "sort", "update")


def is_of_library(ref: Ref) -> bool:
    """Whether a function belongs to NumPy, torch, samovar, Python's `random` or a debugger, which kernels do not
    compile."""
    home, name, _ = ref.origin()
    return home.partition(".")[0] in ("numpy", "torch", "samovar", "random") or name == "set_trace"


#: Module → its functions that create types and funcs, as in `sv.types.vector(3, sv.f32)` and `sv.func(f)`.
MAKERS = {
    "samovar.values.matrix_types": ("matrix", "vector"),
    "samovar.values.struct_types": ("struct",),
    "samovar.runtime.func": ("func", "pyfunc", "real_func"),
}


def is_maker(ref: Ref) -> bool:
    """Whether a function is always called at compile time, because it creates something that exists only then."""
    home, name, _ = ref.origin()
    return name in MAKERS.get(home, ())


def refuse_call(stager: Stager, ref: Ref, node: ast.Call) -> NoReturn:
    """Explain why a Python object cannot be called at run time, and what to do instead."""
    home, name, is_class = ref.origin()
    library = home.partition(".")[0]
    shown = ast.unparse(node.func)
    if library in ("numpy", "torch", "samovar") and name in ALLOCATING:
        stager.fail_type(
            node,
            f"`{shown}` allocates an array, which kernels do not support",
            "create it outside and pass it, or use a small one of fixed length: `sv.Vector.zero(sv.f32, 3)`",
        )
    if is_class:
        stager.fail_type(
            node,
            f"`{shown}` creates an object, which kernels do not support",
            "create it outside and pass it as an argument, or use a tuple or a vector",
        )
    if not home and name in CHANGING:
        stager.fail_type(
            node,
            f"`{shown}` modifies a list, which kernels do not support",
            "write to an array, or modify the list before the launch",
        )
    random = random_instead(ref, shown)
    if random is not None:
        stager.fail_type(node, f"`{shown}` is a Python random-number function and cannot be called in a kernel", random)
    if library == "numpy":
        stager.fail_type(
            node,
            f"`{shown}` is a NumPy function that kernels do not support",
            "those of single numbers (`np.sin`, `np.maximum`, `np.where`) are supported: write a loop, or call it outside",
        )
    if name in INSTEAD_OF and (library in ("builtins", "io", "_io") or name == "set_trace"):
        stager.fail_type(node, f"`{shown}` cannot be called in a kernel", INSTEAD_OF[name])
    module = library or shown.partition(".")[0]  # a method of a hidden object, such as `random.random`, has no module
    if module in INSTEAD:
        stager.fail_type(node, f"`{shown}` is a built-in function and cannot be compiled", INSTEAD[module])
    stager.fail_type(
        node,
        f"`{shown}` is a built-in or library function and cannot be compiled",
        "call it outside and pass the result, or inside `sv.static(...)` to run it at compile time",
    )


#: Random-number functions of `random`, NumPy and torch → what to use in kernels.
DRAWING = {
    **dict.fromkeys(("random", "rand", "random_sample", "ranf", "sample"), "`sv.random()`, in [0, 1)"),
    "uniform": "`low + (high - low) * sv.random()`",
    **dict.fromkeys(("randn", "standard_normal"), "`sv.randn()`"),
    **dict.fromkeys(("normal", "gauss", "normalvariate"), "`mean + deviation * sv.randn()`"),
    **dict.fromkeys(("randint", "integers", "randrange", "random_integers"), "`sv.randint(low, high)`, `high` excluded"),
    "seed": "`sv.seed(number)` from Python, before the launch",
}


def random_instead(ref: Ref, shown: str) -> str | None:
    """Advice for a random-number function; None if it is not one."""
    home, name, _ = ref.origin()
    draws = "random" in home.split(".") or "random" in shown.split(".")[:-1] or ref.is_method_of("numpy.random", "random")
    if not draws:
        return None
    return f"use {DRAWING[name]}" if name in DRAWING else INSTEAD["random"]


def drawn_number(stager: Stager, ref: Ref, node: ast.Call) -> Staged | None:
    """The result of a random-number function of NumPy or `random` that draws one number, from the stream of the kernel. None
    for others, and for those that draw arrays."""
    home, name, _ = ref.origin()
    drawing = DRAWN.get(name)
    if drawing is None or node.keywords or random_instead(ref, ast.unparse(node.func)) is None:
        return None
    # A method of a generator draws from a stream of its own.
    owner = stage(stager, node.func.value) if isinstance(node.func, ast.Attribute) else None
    if not isinstance(owner, Outside) or owner.ref.kind() is not Kind.MODULE:
        return None
    rule, least, most = drawing
    if not least <= len(node.args) <= most or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    values = [stage(stager, each).as_operand(stager, each) for each in node.args]
    if not all(each.is_number() for each in values):
        return None
    return rule(stager, values, node, home == "random" and name == "randint")


def uniform_number(stager: Stager, values: list[Staged], node: ast.Call, includes_end: bool) -> Staged:
    unit: Staged = Scalar(stager.emit("random", f64))
    low, high = with_defaults(values)
    width = binary(stager, BINARY[ast.Sub], high, low, node)
    return binary(stager, BINARY[ast.Add], low, binary(stager, BINARY[ast.Mult], width, unit, node), node)


def with_defaults(values: list[Staged]) -> list[Staged]:
    """Two parameters, which are 0 and 1 if not given."""
    defaults: list[Staged] = [Static(0.0), Static(1.0)]
    return values + defaults[len(values) :]


def normal_number(stager: Stager, values: list[Staged], node: ast.Call, includes_end: bool) -> Staged:
    rule = INTRINSICS["samovar.randn"]
    assert isinstance(rule, Rule)
    unit = rule.applied(stager, Call(node, {"dt": Static(f64)}, {"dt": node}))
    mean, deviation = with_defaults(values)
    return binary(stager, BINARY[ast.Add], mean, binary(stager, BINARY[ast.Mult], deviation, unit, node), node)


def whole_number(stager: Stager, values: list[Staged], node: ast.Call, includes_end: bool) -> Staged:
    """NumPy excludes the upper bound; `random.randint` includes it."""
    rule = INTRINSICS["samovar.randint"]
    assert isinstance(rule, Rule)
    low, high = values if len(values) == 2 else (Static(0), values[0])
    if includes_end:
        high = binary(stager, BINARY[ast.Add], high, Static(1), node)
    return rule.applied(stager, Call(node, {"low": low, "high": high, "dtype": Static(i64)}, {"dtype": node}))


#: Random-number function → the rule for one number, and its least and greatest number of arguments.
DRAWN = {
    **dict.fromkeys(("random", "rand", "random_sample", "ranf", "sample"), (uniform_number, 0, 0)),
    "uniform": (uniform_number, 0, 2),
    **dict.fromkeys(("randn", "standard_normal"), (normal_number, 0, 0)),
    **dict.fromkeys(("normal", "gauss", "normalvariate"), (normal_number, 0, 2)),
    **dict.fromkeys(("randint", "randrange"), (whole_number, 1, 2)),
}


def get_attribute(stager: Stager, call: Call) -> Staged:
    """`getattr` on an object, a module or a class: a question that each launch asks again."""
    owner, name, default = call["owner"], attribute_name(call["name"]), call.get("default")
    if name is not None and owner.has_member(stager, name, call.node) is not None:
        if default is not None and not owner.has_member(stager, name, call.node):
            return default
        node = ast.copy_location(ast.Attribute(call.nodes["owner"], name, ast.Load()), call.node)
        return owner.attribute(stager, name, node)
    require_static(stager, "getattr", call.node)
    if not isinstance(owner, Outside) or name is None:
        return operate(stager, "builtins.getattr", call)
    if default is not None and not owner.has_attribute(name):
        return default
    return owner.attribute(stager, name, call.node)


def has_attribute(stager: Stager, call: Call) -> Staged:
    """`hasattr`, likewise."""
    owner, name = call["owner"], attribute_name(call["name"])
    known = None if name is None else owner.has_member(stager, name, call.node)
    if known is not None:
        return Static(known)
    require_static(stager, "hasattr", call.node)
    if not isinstance(owner, Outside) or name is None:
        return operate(stager, "builtins.hasattr", call)
    return Static(owner.has_attribute(name))


def attribute_name(staged: Staged) -> str | None:
    return staged.value if isinstance(staged, Static) and isinstance(staged.value, str) else None


def operate(stager: Stager, name: str, call: Call) -> Staged:
    """The result of Python's own function for these arguments."""
    values = [value.as_outside_argument(stager, call.nodes[key]) for key, value in call.arguments.items()]
    return stager.open(stager.context.lens.operate(name, *values), call.node)


def make_super(stager: Stager, node: ast.Call) -> Staged:
    """`super()`, in a method of a class."""
    if node.args or node.keywords:
        stager.fail(node, "`super` takes no arguments in kernels", "write `super()`")
    cls = stager.function.resolve("__class__")
    parameters = stager.function.parameters
    owner = stager.names.get(parameters[0].name) if parameters else None
    if cls is None or not isinstance(owner, Outside):
        stager.fail(node, "`super()` can only be used in methods of a class", "call the func through its class")
    return Inherited(owner.ref, cls)


@call_value.register(Outside)
def call_outside(value: Outside, stager: Stager, node: ast.Call) -> Staged:
    """A plain Python function runs at compile time inside `static`, and is compiled like a func elsewhere."""
    if value.kind is Kind.KERNEL:
        stager.fail_signature(
            node,
            f"{value.describe()} cannot be called in a kernel",
            "kernels can only be called from Python: make it a `@sv.func`",
        )
    if value.kind is Kind.FUNCTION:
        if not stager.static_depth and not is_maker(value.ref):
            if value.ref.is_written_in_python() and not is_of_library(value.ref):
                return call_value(compiled_plainly(stager, value.ref, node), stager, node)
            rule = INTRINSICS.get("{}.{}".format(*value.ref.origin()[:2]))  # such as `np.zeros`, a built-in function
            if rule is not None:
                return rule(stager, node)
            drawn = drawn_number(stager, value.ref, node)
            if drawn is not None:
                return drawn
            refuse_call(stager, value.ref, node)
    elif value.ref.origin()[0].partition(".")[0] == "numpy":
        refuse_call(stager, value.ref, node)
    else:
        stager.fail_type(node, f"{value.describe()} cannot be called in a kernel")
    owner = value.ref.bound_object()
    if owner is not None:
        owner.whole()
    positional, keywords = plain_arguments(stager, node)
    return stager.open(value.ref.call(positional, keywords), node)
