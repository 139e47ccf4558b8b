"""Calls of plain Python functions: they run at compile time, and what they are given goes through the lens."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from samovar.frontend.expressions import stage
from samovar.frontend.rules import Call, unpacked
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.outside import Inherited, Outside
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.lens import Ref


def plain_arguments(stager: Stager, node: ast.Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a plain function, by position and by name."""
    positional: list[Any] = []
    for argument in node.args:
        values = unpacked(stager, argument) if isinstance(argument, ast.Starred) else (stage(stager, argument),)
        positional.extend(value.as_outside_argument(stager, argument) for value in values)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not available in kernels", "name each argument")
        keywords[keyword.arg] = stage(stager, keyword.value).as_outside_argument(stager, keyword.value)
    return tuple(positional), keywords


def call_plainly(stager: Stager, name: str, node: ast.Call) -> Staged:
    """A function that has no meaning of its own in kernels does inside `static` what it does in Python."""
    positional, keywords = plain_arguments(stager, node)
    return stager.open(stager.context.lens.operate(name, *positional, **keywords), node)


def compiled_plainly(stager: Stager, ref: Ref, node: ast.Call) -> Callee:
    """A plain function as the func that it would be with a decorator. Its annotations mean nothing, as in Python."""
    name = ast.unparse(node.func)
    stager.warn(
        node,
        f"`{name}` is a plain Python function: it is compiled as if it were a func\n"
        "  help: decorate it with `@sv.func`, or call it inside `sv.static(...)` to run it at compile time",
    )
    if not ref.is_bound():
        return Callee(ref.function())
    function, owner = ref.method()
    function.kind()
    return Callee(function.function(), stager.open(owner, node))


def require_static(stager: Stager, name: str, node: ast.AST) -> None:
    """What is not written in Python can be called inside of `static` only."""
    if stager.static_depth == 0:
        stager.fail_type(
            node,
            f"`{name}` is a plain Python function, and none that could be compiled",
            "call it inside `sv.static(...)` to run it at compile time, or write a `@sv.func` for it",
        )


#: Functions of NumPy, torch and samovar that make arrays.
ALLOCATING = frozenset(
    "arange array asarray concatenate copy empty empty_like eye field full full_like linspace ndarray ones ones_like stack"
    " tensor zeros zeros_like".split()
)


#: What to write instead of functions of a module of Python's.
INSTEAD = {
    "random": "kernels have `sv.random()`, `sv.randn()` and `sv.randint(...)`",
    "time": "call it before or after the launch; `sv.profiler()` says how long kernels take",
}

#: The same for functions that are always there, and for those of debuggers.
INSTEAD_OF = {
    "sorted": "`sv.algorithms.parallel_sort(x)` sorts an array in place, from Python; of a few numbers, `min` and `max` do",
    "breakpoint": "`sv.init(arch=sv.python)` runs kernels as plain Python, where debuggers stop; or `print` the values",
    "set_trace": "`sv.init(arch=sv.python)` runs kernels as plain Python, where debuggers stop; or `print` the values",
    "input": "ask before the launch, and pass the answer as an argument",
    "open": "read the file before the launch, and pass an array",
    "id": "objects exist at compile time only: `sv.static(a is b)` compares them",
    "iter": "write a loop: `for i in range(n)`",
    "next": "write a loop: `for i in range(n)`",
    "eval": "call it inside `sv.static(...)` to run it at compile time",
    "exec": "call it outside of the kernel",
}

CHANGING = ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "setdefault", "sort", "update")


def is_of_library(ref: Ref) -> bool:
    """Is a function one of NumPy, torch, samovar, Python's `random` or a debugger, which are no text to compile for
    kernels?"""
    home, name, _ = ref.origin()
    return home.partition(".")[0] in ("numpy", "torch", "samovar", "random") or name == "set_trace"


def makes_type(ref: Ref) -> bool:
    """Is a function one that makes types: `sv.types.vector(3, sv.f32)`? It is called at compile time wherever it stands."""
    home, name, _ = ref.origin()
    makers = {"samovar.language.matrix_types": ("matrix", "vector"), "samovar.language.struct_types": ("struct",)}
    return name in makers.get(home, ())


def refuse_call(stager: Stager, ref: Ref, node: ast.Call) -> NoReturn:
    """Say why an object of Python cannot be called at run time, and what to do instead."""
    home, name, is_class = ref.origin()
    library = home.partition(".")[0]
    shown = ast.unparse(node.func)
    if library in ("numpy", "torch", "samovar") and name in ALLOCATING:
        stager.fail_type(
            node,
            f"`{shown}` makes an array, and nothing can be allocated inside of a kernel",
            "make it outside and pass it, or take a small one of fixed length: `sv.Vector.zero(sv.f32, 3)`",
        )
    if is_class:
        stager.fail_type(
            node,
            f"`{shown}` makes an object, and no objects are made inside of a kernel",
            "make it outside and pass it as an argument, or use a tuple or a vector",
        )
    if not home and name in CHANGING:
        stager.fail_type(
            node,
            f"`{shown}` changes a list, and lists do not change inside of a kernel",
            "write into an array, or change the list before the launch",
        )
    random = random_instead(ref, shown)
    if random is not None:
        stager.fail_type(node, f"`{shown}` is a random function of Python, and cannot be called in a kernel", random)
    if library == "numpy":
        stager.fail_type(
            node,
            f"`{shown}` is a function of NumPy that kernels do not know",
            "they know those of single numbers (`np.sin`, `np.maximum`, `np.where`): write a loop, or call it outside",
        )
    if name in INSTEAD_OF and (library in ("builtins", "io", "_io") or name == "set_trace"):
        stager.fail_type(node, f"`{shown}` cannot be called in a kernel", INSTEAD_OF[name])
    module = library or shown.partition(".")[0]  # a method of a hidden object, as `random.random` is, has no home
    if module in INSTEAD:
        stager.fail_type(node, f"`{shown}` is a function of Python's, and none that could be compiled", INSTEAD[module])
    stager.fail_type(
        node,
        f"`{shown}` is a plain Python function, and none that could be compiled",
        "call it outside and pass what it gives, or inside `sv.static(...)` to run it at compile time",
    )


#: Functions that draw random numbers, of `random`, NumPy and torch → what kernels have.
DRAWING = {
    **dict.fromkeys(("random", "rand", "random_sample", "ranf", "sample"), "`sv.random()`, from 0 to below 1"),
    "uniform": "`low + (high - low) * sv.random()`",
    **dict.fromkeys(("randn", "standard_normal"), "`sv.randn()`"),
    **dict.fromkeys(("normal", "gauss", "normalvariate"), "`mean + deviation * sv.randn()`"),
    **dict.fromkeys(("randint", "integers", "randrange", "random_integers"), "`sv.randint(low, high)`, without `high`"),
    "seed": "`sv.seed(number)`, from Python, before the launch",
}


def random_instead(ref: Ref, shown: str) -> str | None:
    """What to write instead of a function that draws random numbers, None if it is none."""
    home, name, _ = ref.origin()
    draws = "random" in home.split(".") or "random" in shown.split(".")[:-1] or ref.is_method_of("numpy.random", "random")
    if not draws:
        return None
    return f"kernels have {DRAWING[name]}" if name in DRAWING else INSTEAD["random"]


def get_attribute(stager: Stager, call: Call) -> Staged:
    """`getattr` of an object, a module or a class: a question that is asked again at each launch."""
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
    """`hasattr`, in the same way."""
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
    """What Python's own function gives for these arguments."""
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
        stager.fail(node, "`super()` works in the methods of a class", "call the func by the name of its class")
    return Inherited(owner.ref, cls)
