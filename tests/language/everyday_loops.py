"""Kernels as people write them every day, made by program: what is computed × how loops are nested × what they go over ×
where they end × where the result goes × dtypes × what else stands in the body × how the array that is read lies in memory.

A program is a choice for each of these (`Program`), and its text is that of a kernel and of a plain Python function at once:
Python itself says what is right. Python counts without end, so integers are compared as they wrap; the numbers are such that
sums of floats are exact in any order, and what is not exact is compared with a tolerance.

`selection` gives programs in which every two choices that can meet do meet; `at_random` any number of others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from random import Random
from typing import Any

import numpy as np

import samovar as sv

from .plain_python import NUMPY, InPython, Plain, python_function, wrapped
from .source import define

#: What each choice can be.
TASKS = (
    "sum", "product", "min", "max", "count", "any", "all", "argmin", "prefix", "histogram", "elementwise", "stencil",
    "gather", "scatter", "recurrence", "search", "triangular", "banded", "sparse", "points", "pair", "centered",
)  # fmt: skip
DEPTHS = (1, 2, 3, 4)
SPACES = ("range", "ndrange", "array", "field", "serial")
BOUNDS = ("shape", "parameter", "constant", "data")
STEPS = ("one", "two", "back")
TARGETS = ("local", "element", "total", "field", "returned")
DTYPES = ("f32", "f64", "i32", "i64", "u8")
FEATURES = ("plain", "func", "math", "condition", "choice", "continue", "exit")
MEMORIES = ("numpy", "ndarray", "strided", "turned", "shared")

#: How long the last axis is, around the lengths of vectors; the axes before it are short.
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 257, 300)
BEFORE = {1: (), 2: (5,), 3: (3, 4), 4: (2, 3, 2)}
#: Elements of a result that is no grid.
PLACES = 64

REDUCTIONS = {
    "sum": ("0", "{p} += {e}"),
    "product": ("1", "{p} *= {e}"),
    "min": ("100", "{p} = min({p}, {e})"),
    "max": ("-100", "{p} = max({p}, {e})"),
    "count": ("0", "{p} += 1 if {e} > 1 else 0"),
    "any": ("0", "{p} = max({p}, 1 if {e} > 8 else 0)"),
    "all": ("1", "{p} = min({p}, 1 if {e} > -3 else 0)"),
    "triangular": ("0", "{p} += {e}"),
    "banded": ("0", "{p} += {e}"),
}
#: What writes an element for each iteration, and nothing else.
MAPS = {
    "elementwise": "{e} * 2 + 1",
    "stencil": "{before} + {e} + {after}",
    "gather": "{gathered}",
}
#: What carries something from one iteration to the next, or ends before the others.
SERIAL = ("argmin", "prefix", "recurrence", "search", "sparse", "centered")


@dataclass(frozen=True)
class Program:
    """One kernel: a choice for everything."""

    task: str
    depth: int
    space: str
    bound: str
    step: str
    target: str
    dtype: str
    feature: str
    memory: str

    def __str__(self) -> str:
        return "-".join(str(getattr(self, each.name)) for each in fields(self))

    # --- which axes the loop at the top has, and which loops are inside of it

    @property
    def needs_inner(self) -> bool:
        """Whether the last axis is a loop of its own, one iteration after the other."""
        return self.task in SERIAL or self.feature == "exit" or self.task in ("triangular", "banded")

    @property
    def fused(self) -> int:
        """How many axes the loop at the top has."""
        most = min(2, self.depth) if self.space in ("ndrange", "array") else 1
        return min(most, self.depth - 1) or 1 if self.needs_inner else most

    @property
    def _is_flat(self) -> bool:
        """Whether there is one loop, of which the kernel is the iteration: it has the variables."""
        return self.depth == 1 and self.space == "serial"

    @property
    def is_possible(self) -> bool:
        """Whether there is such a kernel."""
        if self.needs_inner and self.depth == 1 and (self.space != "serial" or self.task == "centered"):
            return False
        if self.task == "centered" and (self.target, self.feature == "exit") != ("local", False):
            return False
        if self.task == "pair" and self.target not in ("local", "total", "returned"):
            return False
        if self.task == "product" and self.dtype.startswith("f") and self.feature in ("func", "choice"):
            return False  # it would be infinite
        is_map = self.task in MAPS or self.task in ("prefix", "points")
        if is_map and self.target not in ("element", "field", "local"):
            return False
        if self.task in ("histogram", "scatter") and self.target not in ("element", "field"):
            return False
        if self.task in ("argmin", "recurrence", "search", "sparse") and self.target not in ("local", "element", "field"):
            return False
        own_range = self.task in ("triangular", "banded", "sparse")
        if own_range and (self.bound, self.step, self.depth) != ("shape", "one", 2):
            return False
        if self.task == "points" and (self.depth != 1 or self.target == "returned" or self.feature == "exit"):
            return False
        if self.memory == "shared" and (self.task not in ("elementwise", "points") or self.target == "field"):
            return False  # an element that another iteration writes
        # The axes of an array or a field are what they are; a loop at the top goes upwards by one.
        if self.fused == self.depth and self.space in ("array", "field") and (self.bound != "shape" or self.step != "one"):
            return False
        if self.fused == self.depth and self.space == "ndrange" and self.step != "one":
            return False
        return not (self.feature in ("condition", "continue", "exit") and self.task in ("gather", "sparse"))

    # --- the text

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of the last axis that a kernel is tried with."""
        if self.bound == "constant":
            return (self.constant + 2,)
        if self.target == "field" or (self.space == "field" and self.fused == self.depth):
            return (self.constant,)
        mixed = Random(str(self))
        return (0, *sorted(mixed.sample(LENGTHS[1:], 4)))

    @property
    def fast_math(self) -> bool:
        """Whether sums may be reordered; every other program has it."""
        return Random(f"{self} options").random() < 0.5

    @property
    def constant(self) -> int:
        """A bound that stands in the text."""
        return Random(str(self)).choice((1, 3, 8, 16, 17, 33, 64, 100))

    @cached_property
    def text(self) -> str:
        """A kernel, or a Python function if `sv.kernel` and `sv.func` do nothing."""
        return "\n".join(self._lines()) + "\n"

    @property
    def ndim(self) -> int:
        """The axes of the array that is read: points have three numbers."""
        return 2 if self.task == "points" else self.depth

    @property
    def _axes(self) -> str:
        return "ijkl"[: self.depth]

    @property
    def _row(self) -> str:
        """The number of the iteration of the loop at the top, without its last axis if that is the last of all."""
        outer = self._axes[: min(self.fused, self.depth - 1)]
        return {"": "0", "i": "i", "ij": "i * x.shape[1] + j"}[outer]

    def _lines(self) -> Iterator[str]:
        returns = " -> A" if self.target == "returned" else ""
        arguments = [f"x: sv.types.NDArray[E, {self.ndim}]", "index: sv.types.NDArray[sv.i32, 1]", "n: sv.i32"]
        if self.space == "array":
            arguments.append(f"head: sv.types.NDArray[sv.i32, {self.fused}]")
        if self.target not in ("field", "returned"):
            arguments.append("out: sv.types.NDArray[E, 1]")
            arguments.append(f"grid: sv.types.NDArray[E, {self.ndim}]")
        if self.feature == "func":
            yield from ("@sv.func", "def f(a):", "    if a > 2:", "        return a + 1", "    return a * 2", "")
        yield "@sv.kernel"
        yield f"def k({', '.join(arguments)}){returns}:"
        for line in self._body():
            yield "    " + line

    def _body(self) -> Iterator[str]:
        is_total = self.target == "returned"
        begin = REDUCTIONS.get(self.task, ("0", ""))[0]
        if is_total:
            yield f"y = A({begin})"
            if self.task == "pair":
                yield "z = A(-100)"
        if self.task == "points":
            yield from ("a, b, c = A(1), A(2), A(3)", "for p in range(5):")
            yield from (f"    {name} += A(index[p + {number}])" for number, name in enumerate("abc"))
        before, inside, after = self._iteration()
        if self._is_flat:
            yield from before
            before = []
        if self.space == "serial":
            yield "sv.loop_config(serialize=True)"
        yield f"for {', '.join(self._axes[: self.fused])} in {self._space()}:"
        yield from ("    " + line for line in (*before, *inside, *([] if self._is_flat else after)))
        if self._is_flat:
            yield from after
        if is_total:
            yield "return y + z" if self.task == "pair" else "return y"

    def _space(self) -> str:
        if self.space == "ndrange":
            ends = [self._end(axis) for axis in range(self.fused)]
            return f"sv.ndrange({', '.join(ends)})"
        if self.space in ("array", "field"):
            return "head"
        return self._range(0)

    def _end(self, axis: int) -> str:
        if axis < self.depth - 1 or self.bound == "shape":
            return f"x.shape[{axis}]"
        if self.bound == "data":
            return f"index[{self._row}]" if self.depth > self.fused else "index[0]"
        return "n" if self.bound == "parameter" else str(self.constant)

    def _range(self, axis: int) -> str:
        end = self._end(axis)
        if axis < self.depth - 1 or self.step == "one":
            return f"range({end})"
        return f"range(1, {end}, 2)" if self.step == "two" else f"range({end} - 1, -1, -1)"

    def _iteration(self) -> tuple[list[str], list[str], list[str]]:
        """The body of the loop at the top: what comes before the loops inside of it, these, and what comes after them."""
        before, after = [], []
        if (self.target == "local" and self.task in (*REDUCTIONS, "pair")) or self.task in SERIAL:
            first = {"argmin": "best, where = A(100), -1", "search": "where = -1"}
            before = [first.get(self.task, f"y = A({REDUCTIONS.get(self.task, ('0',))[0]})")]
            if self.task == "pair":
                before.append("z = A(-100)")
            if self.task not in ("prefix", "centered"):
                found = "where" if self.task in first else "y + z" if self.task == "pair" else "y"
                after = [f"out[{self._own_row()}] = E({found})"]
        inside: list[str] = []
        for axis in range(self.fused, self.depth):
            ends = self._special_range() if axis == self.depth - 1 else None
            inside.append("    " * len(inside) + f"for {self._axes[axis]} in {ends or self._range(axis)}:")
        deep = "    " * len(inside)
        steps = [*inside, *(deep + line for line in self._with_feature())]
        if self.task == "centered":  # once more, with what was found
            here = ", ".join(self._axes)
            again = f"grid[{here}] = E(x[{here}] - y)"
            steps = [*steps, *inside, deep + again]
        return before, steps, after

    def _own_row(self) -> str:
        """A place that is that of one iteration of the loop at the top."""
        if self.fused == self.depth and not self._is_flat:
            return f"({self._row}) * x.shape[{self.depth - 1}] + {self._axes[-1]}"
        return self._row

    def _special_range(self) -> str | None:
        if self.task == "triangular":
            return "range(i, x.shape[1])" if self.dtype in ("f32", "i64") else "range(min(i, x.shape[1]))"
        if self.task == "banded":
            return "range(max(0, i - 1), min(x.shape[1], i + 3))"
        if self.task == "sparse":
            return "range(index[i], index[i + 1])"
        return None

    def _with_feature(self) -> Iterator[str]:
        element = "x[i, 0]" if self.task == "points" else f"x[{', '.join(self._axes)}]"
        if self.task == "sparse":
            element = f"x[i, index[{self._axes[-1]}] % x.shape[1]]"
        if self.feature == "func":
            yield from self._statement(f"f({element})")
        elif self.feature == "math":
            floats = self.dtype.startswith("f")
            yield from self._statement(f"math.sqrt(abs({element}))" if floats else f"abs({element})")
        elif self.feature == "choice":
            yield from self._statement(f"({element} if {element} > 0 else 2)")
        elif self.feature == "condition":
            yield f"if {element} > 0:"
            yield from ("    " + line for line in self._statement(element))
        elif self.feature in ("continue", "exit"):
            yield f"if {element} {'<= 0' if self.feature == 'continue' else '> 8'}:"
            yield "    continue" if self.feature == "continue" else "    break"
            yield from self._statement(element)
        else:
            yield from self._statement(element)

    def _statement(self, element: str) -> Iterator[str]:
        """What is done with an element."""
        last, before = self._axes[-1], self._axes[:-1]
        here = ", ".join(self._axes)
        if self.task in REDUCTIONS:
            place = {"local": "y", "returned": "y", "total": "out[0]", "element": f"out[{self._row}]"}.get(self.target)
            place = place or f"out[({self._row}) % {PLACES}]"
            in_array = "out" in place
            yield REDUCTIONS[self.task][1].format(p=place, e=f"E({element})" if in_array else element)
        elif self.task in MAPS:
            axis, rest = self.depth - 1, "".join(f"{each}, " for each in before)
            value = MAPS[self.task].format(
                e=element,
                before=f"x[{rest}max({last} - 1, 0)]",
                after=f"x[{rest}min({last} + 1, x.shape[{axis}] - 1)]",
                gathered=f"x[{rest}index[{last} % 7] % x.shape[{axis}]]",
            )
            if self.target == "local":
                yield f"value = {value}"
                value = "value"
            yield f"grid[{here}] = E({value})"
        elif self.task == "points":
            for number, name in enumerate("abc"):
                yield f"grid[i, {number}] = E({element.replace('0]', f'{number}]')} - {name} * 2)"
        elif self.task == "prefix":
            yield f"y += {element}"
            yield f"grid[{here}] = E(y)"
        elif self.task == "centered":
            yield f"y += {element}"
        elif self.task == "pair":
            one, other = ("out[0]", "out[1]") if self.target == "total" else ("y", "z")
            yield REDUCTIONS["sum"][1].format(p=one, e=f"E({element})" if self.target == "total" else element)
            yield REDUCTIONS["max"][1].format(p=other, e=f"E({element})" if self.target == "total" else element)
        elif self.task == "recurrence":
            half = "0.5" if self.dtype.startswith("f") else "3"
            yield f"y = y * {half} + {element}"
        elif self.task == "sparse":
            yield f"y += {element} * 2"
        elif self.task == "argmin":
            yield from (f"if {element} < best:", f"    best = {element}", f"    where = {last}")
        elif self.task == "search":
            yield from (f"if {element} > 7:", f"    where = {last}", "    break")
        elif self.task == "histogram":
            yield f"out[abs(sv.i32({element})) % 16] += E(1)"
        else:
            yield f"out[index[{last} % 7] % {PLACES}] += E({element})"

    # --- running it

    def arguments(self, length: int) -> dict[str, np.ndarray | int]:
        """What the kernel is given, for a length of the last axis."""
        random = np.random.default_rng(length)
        shape = (length, 3) if self.task == "points" else (*BEFORE[self.depth], length)
        numbers = random.integers(0 if self.dtype == "u8" else -3, 10, shape)
        dtype = NUMPY[self.dtype]
        x = (numbers * (0.25 if self.task == "product" else 1)).astype(dtype)
        if self.task == "product":
            x = random.choice(np.array([1, 1, 1, 1, 2] if self.dtype == "u8" else [1, 1, -1, 1, 1]), shape).astype(dtype)
        elif self.dtype.startswith("f"):
            x = x + (random.integers(0, 4, shape) * 0.25).astype(dtype)
        index = random.integers(0, max(1, length + 1), 80 + length).astype(np.int32)
        if self.task == "sparse":
            index = np.sort(index % 40).astype(np.int32) if length else np.zeros_like(index)
        elif self.bound == "data":
            index = np.minimum(index, length).astype(np.int32)
        rows = math.prod(shape)
        return {
            "x": self._placed(x),
            "index": index,
            "n": length,
            "head": np.zeros(shape[: self.fused], np.int32),
            "out": np.full(max(PLACES, rows + 1), self._first(), dtype),
            "grid": np.zeros(shape, dtype),
        }

    def _placed(self, x: np.ndarray) -> np.ndarray:
        """The array that is read, as it lies in memory."""
        if self.memory == "strided":
            wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
            wide[..., : 2 * x.shape[-1] : 2] = x
            return wide[..., : 2 * x.shape[-1] : 2]
        if self.memory == "turned":
            return np.asfortranarray(x)[..., ::-1]
        return x

    def _first(self) -> int:
        """What stands where results are gathered."""
        first = int(REDUCTIONS.get(self.task, ("0", ""))[0])
        return max(first, 0) if self.dtype == "u8" else first

    def kernel(self, length: int) -> Callable[[dict[str, Any]], list[np.ndarray]]:
        """The kernel, for arguments of a length; gives the results."""
        accumulated = {"u8": "i32"}.get(self.dtype, self.dtype)
        names: dict[str, Any] = {"E": getattr(sv, self.dtype), "A": getattr(sv, accumulated), "math": math}
        example = self.arguments(length)
        captured = []
        if self.space == "field":
            names["head"] = sv.field(sv.i32, example["head"].shape)  # type: ignore[union-attr]
        if self.target == "field":
            captured = ["out", "grid"]
            names |= {each: sv.field(names["E"], example[each].shape) for each in captured}  # type: ignore[union-attr]
        kernel = define(self.text, **names)

        def run(given: dict[str, Any]) -> list[np.ndarray]:
            for each in captured:
                names[each].from_numpy(given[each])
            if self.memory == "shared":
                given["grid"] = given["x"]
            taken = {name: given[name] for name in self._parameters()}
            if self.memory == "ndarray":
                taken |= {name: _own(value) for name, value in taken.items() if isinstance(value, np.ndarray)}
            returned = kernel(**taken)
            results = given | {name: value.to_numpy() for name, value in taken.items() if hasattr(value, "to_numpy")}
            found = [names[each].to_numpy() if each in captured else results[each] for each in ("out", "grid")]
            return [*found, np.array(returned if self.target == "returned" else 0)]

        return run

    def _parameters(self) -> list[str]:
        head = ["head"] if self.space == "array" else []
        results = [] if self.target in ("field", "returned") else ["out", "grid"]
        return ["x", "index", "n", *head, *results]

    def expected(self, given: dict[str, Any]) -> list[np.ndarray]:
        """What Python makes of the text."""
        number = float if self.dtype.startswith("f") else int
        plain = {name: value if isinstance(value, int) else Plain(value) for name, value in given.items()}
        if self.memory == "shared":
            plain["grid"] = plain["x"]
        names: dict[str, Any] = {"E": number, "A": number, "math": math, "sv": InPython}
        names |= {each: plain[each] for each in ("head", "out", "grid") if each not in self._parameters()}
        function = python_function(self.text, names)
        returned = function(**{name: plain[name] for name in self._parameters()})
        results = [plain["out"].array(), plain["grid"].array()]
        if self.target == "returned":
            accumulated = NUMPY["i32" if self.dtype == "u8" else self.dtype]
            return [*results, wrapped(np.array(returned, object), accumulated)]
        return [*results, np.array(0)]

    @property
    def tolerance(self) -> float:
        """How far results may be from Python's, which computes in f64."""
        if not self.dtype.startswith("f") or (self.feature != "math" and self.task not in ("recurrence", "product")):
            return 0.0
        return 2e-5 if self.dtype == "f32" else 1e-12


def _own(array: np.ndarray) -> Any:
    """An array of ours with these numbers."""
    made = sv.ndarray(getattr(sv, {value: name for name, value in NUMPY.items()}[array.dtype.type]), array.shape)
    made.from_numpy(np.ascontiguousarray(array))
    return made


# --- which programs


CHOICES: dict[str, tuple[Any, ...]] = {
    "task": TASKS, "depth": DEPTHS, "space": SPACES, "bound": BOUNDS, "step": STEPS, "target": TARGETS, "dtype": DTYPES,
    "feature": FEATURES, "memory": MEMORIES,
}  # fmt: skip
_NAMES = tuple(CHOICES)


def _pairs(program: Program) -> set[tuple[str, Any, str, Any]]:
    values = [(name, getattr(program, name)) for name in _NAMES]
    return {(*one, *other) for one, other in combinations(values, 2)}


def _any(random: Random, **fixed: Any) -> Program | None:
    """Some program with these choices, None if it seems that there is none."""
    for _ in range(200):
        program = Program(**{name: fixed.get(name) or random.choice(CHOICES[name]) for name in _NAMES})
        if program.is_possible:
            return program
    return None


def selection(seed: int = 0) -> list[Program]:
    """Programs in which every two choices meet that can; the same ones each time."""
    random = Random(seed)
    missing = [
        (one, a, other, b)
        for one, other in combinations(_NAMES, 2)
        for a in CHOICES[one]
        for b in CHOICES[other]
    ]
    covered: set[tuple[str, Any, str, Any]] = set()
    found: dict[Program, None] = {}
    for one, a, other, b in missing:
        if (one, a, other, b) in covered:
            continue
        best, most = None, 0
        for _ in range(12):
            program = _any(random, **{one: a, other: b})
            if program is None:  # they cannot meet
                break
            more = len(_pairs(program) - covered)
            if more > most:
                best, most = program, more
        if best is not None:
            covered |= _pairs(best)
            found[best] = None
    return list(found)


def at_random(count: int, seed: int) -> Iterator[Program]:
    """So many programs, whatever they are."""
    random, seen = Random(seed), set()
    while len(seen) < count:
        program = _any(random)
        if program is not None and program not in seen:
            seen.add(program)
            yield program
