# ruff: noqa: E501
"""Programs made at random: plain functions in `static` that read a world of objects, and changes of that world.

A program is two modules: one in a folder that is called `site-packages`, and one beside it with the kernels. Each *source* of
numbers is some text, an expression that reads the number, and statements that change it. For each kernel there is a plain
function that computes the same: what it gives is what a launch has to give.
"""

from __future__ import annotations

import random
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Results are small, so that a program needs few compiles.
MODULUS = 4

HEADER = """
import builtins, collections, contextvars, dataclasses, enum, functools, math, sys, types, weakref
import numpy as np
import samovar as sv
"""


@dataclass(frozen=True)
class Source:
    """`text` with the name `X` where a name of its own goes; `read` is an expression; `changes` hold `V` for a new number."""

    text: str
    read: str
    changes: tuple[str, ...]


SOURCES = [
    Source("X = 1", "X", ("X = V",)),
    Source("X = [1, 2]", "X[1]", ("X[1] = V", "X = [0, V]", "X.insert(1, V)")),
    Source("X = {'a': 1}", "X.get('a', 3)", ("X['a'] = V", "X = {'a': V}", "X.pop('a', None)")),
    Source("X = (1, [2])", "X[1][0]", ("X[1][0] = V", "X = (1, [V])")),
    Source("X = {1, 2}", "sum(X)", ("X.add(V)", "X = {V}")),
    Source("def X(n=1): return n", "X()", ("X.__defaults__ = (V,)", "def X(n=V): return n")),
    Source("def X(*, n=[1]): return n[0]", "X()", ("X.__kwdefaults__['n'][0] = V", "X.__kwdefaults__ = {'n': [V]}")),
    Source(
        "def make_X():\n    n = 1\n    def get(): return n\n    def put(v):\n        nonlocal n\n        n = v\n"
        "    return get, put\nX, put_X = make_X()",
        "X()",
        ("put_X(V)", "X, put_X = make_X()"),
    ),
    Source("class X:\n    n = 1", "X.n", ("X.n = V",)),
    Source("class X:\n    n = 1\nthe_X = X()", "the_X.n", ("X.n = V", "the_X.n = V", "the_X = X()")),
    Source("class B_X:\n    n = 1\nclass X(B_X): ...\nthe_X = X()", "the_X.n", ("B_X.n = V", "X.n = V", "the_X.n = V")),
    Source(
        "class B_X:\n    m = 1\n    def n(self): return self.m\nclass X(B_X):\n    def n(self): return super().n() + 1\nthe_X = X()",
        "the_X.n()",
        ("the_X.m = V", "B_X.m = V", "B_X.n = lambda self: V", "X.n = lambda self: V"),
    ),
    Source(
        "class X:\n    def __init__(self): self._n = 1\n    @property\n    def n(self): return self._n\nthe_X = X()",
        "the_X.n",
        ("the_X._n = V", "X.n = property(lambda self: V)"),
    ),
    Source(
        "class D_X:\n    n = 1\n    def __get__(self, owner, cls=None): return self.n\nclass X:\n    n = D_X()\nthe_X = X()",
        "the_X.n",
        ("D_X.n = V", "X.__dict__['n'].n = V", "the_X.__dict__['n'] = V"),
    ),
    Source(
        "n_X = 1\nclass X:\n    def __getattr__(self, name):\n        if name == 'n': return n_X\n        raise AttributeError(name)\n"
        "the_X = X()",
        "the_X.n",
        ("n_X = V", "the_X.n = V", "X.__getattr__ = lambda self, name: V"),
    ),
    Source("class X:\n    __slots__ = ('n', 'm')\nthe_X = X()\nthe_X.n = 1", "the_X.n + getattr(the_X, 'm', 0)", ("the_X.n = V", "the_X.m = V")),
    Source("@dataclasses.dataclass\nclass X:\n    n: int = 1\nthe_X = X()", "the_X.n", ("the_X.n = V", "the_X = X(V)")),
    Source("@dataclasses.dataclass\nclass X:\n    n: int = 1\nthe_X = X()", "dataclasses.asdict(the_X)['n']", ("the_X.n = V",)),
    Source("n_X = 1\nclass X:\n    def __init__(self): self.n = n_X", "X().n", ("n_X = V", "X.__init__ = lambda self: setattr(self, 'n', V)")),
    Source(
        "n_X = 1\n@dataclasses.dataclass\nclass X:\n    n: int = 0\n    def __post_init__(self): self.n += n_X", "X(1).n", ("n_X = V",)
    ),
    Source("X = types.ModuleType('X')\nX.n = 1\nsys.modules['X'] = X", "X.n", ("X.n = V",)),
    Source(
        "X = types.ModuleType('X')\nX.n = 1\nsys.modules['X'] = X\ndef get_X():\n    from X import n\n    return n",
        "get_X()",
        ("X.n = V", "sys.modules['X'] = types.SimpleNamespace(n=V)"),
    ),
    Source(
        "class X:\n    _n = None\n    def n(self):\n        if self._n is None: self._n = n_X\n        return self._n\nn_X = 1\nthe_X = X()",
        "the_X.n()",
        ("the_X._n = V", "the_X._n = None; n_X = V", "the_X = X()", "n_X = V"),
    ),
    Source(
        "X = {}\nn_X = 1\ndef get_X(name):\n    if name not in X: X[name] = n_X\n    return X[name]",
        "get_X('a')",
        ("X['a'] = V", "X.clear(); n_X = V"),
    ),
    Source("class X(enum.Enum):\n    A = 1\n    B = 2\n    C = 3\nthe_X = X.A", "the_X.value", ("the_X = X(1 + V % 3)",)),
    Source("class X(enum.IntEnum):\n    A = 1\n    B = 2\n    C = 3\nthe_X = X.A", "the_X + 1", ("the_X = X(1 + V % 3)",)),
    Source("n_X = [1]\nX = functools.partial(sum, n_X)", "X()", ("n_X[0] = V", "X = functools.partial(sum, [V])")),
    Source("n_X = 1\n@functools.lru_cache\ndef X(n): return n + 1", "X(n_X)", ("n_X = V", "X.cache_clear(); n_X = V")),
    Source(
        "class X:\n    def __init__(self): self.m = 1\n    @functools.cached_property\n    def n(self): return self.m\nthe_X = X()",
        "the_X.n",
        ("the_X.n = V", "the_X.m = V", "the_X.__dict__.pop('n', None); the_X.m = V"),
    ),
    Source(
        "n_X = 1\n@functools.singledispatch\ndef X(x): return 2\n@X.register\ndef _(x: int): return n_X",
        "X(5)",
        ("n_X = V", "X.register(int)(lambda x: V)", "X.register(object)(lambda x: V)"),
    ),
    Source("n_X = 1\n@sv.func\ndef X(x): return x + n_X", "X(1)", ("n_X = V", "X.__wrapped__.__defaults__ = (V,)")),
    Source("def X(): return X.n\nX.n = 1", "X()", ("X.n = V",)),
    Source("class X: ...\nthe_X = X()", "getattr(the_X, 'n', 1)", ("the_X.n = V", "X.n = V")),
    Source("class X: ...\nthe_X = X()", "(2 if hasattr(the_X, 'n') else 1)", ("the_X.n = V", "the_X.__dict__.clear()", "X.n = V")),
    Source("class X: ...\nthe_X = X()", "vars(the_X).get('n', 1)", ("the_X.n = V", "the_X.__dict__.clear()")),
    Source("class X:\n    n0 = 1\n    n1 = 2\ni_X = 0", "getattr(X, 'n' + str(i_X))", ("i_X = V % 2", "X.n0 = V", "X.n1 = V")),
    Source("X = collections.deque([1])", "X[0] + len(X)", ("X.append(V)", "X[0] = V", "X.popleft() if len(X) > 1 else None")),
    Source("X = collections.UserDict(n=1)", "X['n']", ("X['n'] = V", "X.data = {'n': V}")),
    Source("X = collections.OrderedDict(n=1)", "X['n']", ("X['n'] = V",)),
    Source("X = collections.defaultdict(int)", "X['n']", ("X['n'] = V", "X.default_factory = lambda: V; X.clear()")),
    Source("X = collections.namedtuple('X', 'n')([1])", "X.n[0]", ("X.n[0] = V",)),
    Source("X = contextvars.ContextVar('X', default=1)", "X.get()", ("X.set(V)",)),
    Source("X = np.array([1, 2])", "int(X[1])", ("X[1] = V", "X = np.array([0, V])")),
    Source("X = sv.ndarray(sv.i32, 300)", "X[299]", ("X[299] = V",)),
    Source("class X:\n    n = 1\nkept_X = X()\nthe_X = weakref.ref(kept_X)", "the_X().n", ("kept_X.n = V", "kept_X = X(); the_X = weakref.ref(kept_X)")),
    Source("class X:\n    n = 1\n    @classmethod\n    def get(cls): return cls.n", "X.get()", ("X.n = V", "X.get = classmethod(lambda cls: V)")),
    Source("n_X = 1\nclass X:\n    @staticmethod\n    def get(): return n_X", "X.get()", ("n_X = V", "X.get = staticmethod(lambda: V)")),
    Source("class M_X(type):\n    n = 1\nclass X(metaclass=M_X): ...", "X.n", ("M_X.n = V", "X.n = V")),
    Source("class X:\n    def __init__(self): self.n = 1\n    def __len__(self): return self.n\nthe_X = X()", "len(the_X)", ("the_X.n = V", "X.__len__ = lambda self: V")),
    Source("class X:\n    n = 1\n    def __call__(self): return self.n\nthe_X = X()", "the_X()", ("the_X.n = V", "X.__call__ = lambda self: V")),
    Source("class X:\n    n = 1\n    def __add__(self, other): return self.n + other\nthe_X = X()", "(the_X + 1)", ("the_X.n = V", "X.__add__ = lambda self, other: V")),
    Source("class X:\n    n = 1\n    def __iter__(self): return iter(range(self.n))\nthe_X = X()", "sum(1 for _ in the_X)", ("the_X.n = V",)),
    Source("class X:\n    n = 1\n    def __contains__(self, x): return x < self.n\nthe_X = X()", "int(1 in the_X)", ("the_X.n = V",)),
    Source("class X:\n    n = 1\n    def __eq__(self, other): return self.n == other\nthe_X = X()", "int(the_X == 2)", ("the_X.n = V",)),
    Source("class X:\n    n = 1\n    def __format__(self, form): return str(self.n)\nthe_X = X()", "int(f'{the_X}')", ("the_X.n = V",)),
    Source("class X:\n    n = 1\nclass Y_X:\n    n = 2\nthe_X = X()", "the_X.n", ("the_X.__class__ = Y_X if V % 2 else X", "Y_X.n = V")),
    Source("class A_X:\n    n = 1\nclass B_X:\n    n = 2\nclass X(A_X): ...\nthe_X = X()", "(the_X.n + isinstance(the_X, B_X))", ("X.__bases__ = (B_X,) if V % 2 else (A_X,)", "A_X.n = V")),
    Source("X = types.SimpleNamespace(inner=types.SimpleNamespace(n=1))", "X.inner.n", ("X.inner.n = V", "X.inner = types.SimpleNamespace(n=V)")),
    Source("X = types.MappingProxyType(n_X := {'n': 1})", "X['n']", ("n_X['n'] = V",)),
    Source("n_X = [1]\nX = iter([])", "(n_X[0] + X.__length_hint__())", ("n_X[0] = V",)),
    Source("n_X = 1\ndef X():\n    yield n_X\n    yield 2", "list(X())[0]", ("n_X = V",)),
    Source("X = math.floor", "int(X(1.5))", ("X = lambda x: V", "X = math.ceil")),
    Source("X = [1]\nY_X = X", "(5 if X is Y_X else 2)", ("X = [1]", "Y_X = X")),
    Source("X = bytearray(b'ab')", "X[0]", ("X[0] = V",)),
    Source("X = 'a'", "(len(X) + X.count('b'))", ("X = 'ab' * V",)),
    Source("class X(dict): ...\nthe_X = X(n=1)", "the_X['n']", ("the_X['n'] = V", "X.__missing__ = lambda self, key: V; the_X.pop('n', None)")),
    Source("class X(list):\n    def __getitem__(self, i): return list.__getitem__(self, i) + n_X\nn_X = 1\nthe_X = X([1])", "the_X[0]", ("n_X = V", "the_X.append(V); the_X.pop(0)")),
    Source("class X(int):\n    def __mod__(self, other): return n_X\nn_X = 1\nthe_X = X(1)", "(the_X % 3)", ("n_X = V", "the_X = X(V)")),
    # Those that only compute, of which nothing is called again.
    Source("def a_X(): return 1\ndef b_X(): return 2\nX = {'a': a_X, 'b': b_X}\nkey_X = 'a'", "X[key_X]()", ("key_X = 'b'", "X['a'] = b_X", "a_X.__code__ = b_X.__code__", "b_X = a_X")),
    Source("def X(n): return 1 if n == 0 else X(n - 1) + m_X\nm_X = 1", "X(2)", ("m_X = V", "def X(n): return V")),
    Source("X = [[1], [2, 3]]", "sum(len(each) * each[0] for each in X)", ("X[1].append(V)", "X[0] = X[1]", "X.append([V])")),
    Source("X, Y_X = [1], [1]\ndef alias_X(a, b):\n    a.append(1)\n    n = len(b)\n    a.pop()\n    return n", "alias_X(X, Y_X)", ("X = Y_X", "X = [1]")),
    Source("X = (1, 2.5, 'a', None, True, 2j)", "(len(X) + int(X[1]) + int(X[5].imag))", ("X = (1, V + 0.5, 'a', None, True, 2j)", "X = (1, 2.5, 'a', None, V, 3j)")),
    Source("def make_X(n):\n    def inner():\n        def deeper(): return n\n        return deeper\n    return inner()\nX = make_X(1)", "X()", ("X = make_X(V)", "X.__closure__[0].cell_contents = V")),
    Source("n_X = 2\ndef X(*a, **k): return len(a) + sum(k.values()) + n_X", "X(1, 2, b=3)", ("n_X = V", "def X(*a, **k): return V")),
    Source("X = 3", "sorted([X, 2, 1], key=lambda each: -each)[0]", ("X = V",)),
    Source("X = {2: 'b', 1: 'a'}", "next(iter(X))", ("X[2] = X.pop(2, 'e')", "X = {V: 'c'}", "X[V] = 'd'")),
    Source("X = math", "int(X.floor(2.5) + X.tau)", ("X = types.SimpleNamespace(floor=lambda x: V, tau=1)", "X = math")),
    Source("def X(l=[]):\n    l.append(1)\n    return len(l) % 2 + n_X\nn_X = 1", "0 * X() + n_X", ("n_X = V",)),
    Source("X = 1.0", "int(str(X)[0] == '-') + 1", ("X = -0.0", "X = 0.0", "X = float('nan')")),
    Source("X = 1", "(2 if X is True else 1) + (X == 1)", ("X = True", "X = 1", "X = 1.0")),
    Source("def X(): return len('abc')", "X()", ("len = lambda x: V", "len = builtins.len")),
]  # fmt: skip


@dataclass
class Program:
    """Texts of the two modules, the kernels by name, and which module each change is made in."""

    library: str
    text: str
    kernels: list[str]
    changes: list[tuple[str, str]]
    seed: int
    called: dict[str, Any] = field(default_factory=dict)


def make(seed: int) -> Program:
    """A program."""
    dice = random.Random(seed)
    library, own, reads, changes = [HEADER], [HEADER + f"import lib_{seed} as lib\n"], [], []
    for number in range(dice.randint(2, 4)):
        source = dice.choice(SOURCES)
        name = f"x{number}_{seed}"
        installed = dice.random() < 0.5
        getter = f"get_{name}"
        text = source.text.replace("X", name)
        text += f"\ndef {getter}_(): return {source.read.replace('X', name)}\n"
        (library if installed else own).append(text)
        place = f"lib_{seed}" if installed else f"main_{seed}"
        changes += [(place, each.replace("X", name)) for each in source.changes]
        shared = not installed and dice.random() < 0.5
        reads.append(source.read.replace("X", name) if shared else f"lib.{getter}_()" if installed else f"{getter}_()")
    kernels = []
    for number in range(dice.randint(1, 2)):
        chosen = [dice.choice(reads) for _ in range(dice.randint(1, 3))]
        expression = " + ".join(f"{dice.randint(1, 3)} * ({each})" for each in chosen)
        own.append(_function(dice, number, expression))
        kernels.append(f"k{number}")
    return Program("\n".join(library), "\n".join(own), kernels, changes, seed)


def _function(dice: random.Random, number: int, expression: str) -> str:
    """A function, and a kernel that calls it in some way."""
    body = dice.choice(
        [
            "return {e}",
            "n = {e}\n    return n if n > 2 else n + 1",
            "total = 0\n    for i in range(3):\n        total += i * ({e})\n    return total",
            "return sum([({e}) + i for i in range(2)])",
            "try:\n        return {e}\n    finally:\n        pass",
            "def inner(): return {e}\n    return inner()",
            "if a is None: a = 1\n    return a + ({e})",
        ]
    ).format(e=expression)
    lines = [f"def f{number}(a=None):\n    {body}\n"]
    lines.append(f"class C{number}:\n    def method(self): return f{number}()\n    @property\n    def value(self): return f{number}()\nc{number} = C{number}()")
    lines.append(f"def g{number}(i): return f{number}() + i")
    lines.append(f"def l{number}(): return [f{number}(), 1]")
    call = dice.choice(["f{n}()", "c{n}.method()", "c{n}.value", "g{n}(2)", "g{n}(l{n}()[1])", "l{n}()[0]", "f{n}(3)", "g{n}(i=f{n}())"])
    call = call.format(n=number)
    lines.append(f"def o{number}(): return int(({call}) % {MODULUS})")
    if dice.random() < 0.2:
        call = f"o{number}()"
        result = f"sv.static({call})"
    else:
        result = f"sv.static(int({call}) % {MODULUS})" if dice.random() < 0.5 else f"sv.static(m{number}({call}))"
        lines.append(f"def m{number}(n): return int(n) % {MODULUS}")
    lines.append(f"@sv.kernel\ndef k{number}() -> sv.i32:\n    return {result}\n")
    return "\n".join(lines)


def loaded(program: Program, folder: Path) -> dict[str, types.ModuleType]:
    """Both modules by name. They are imported as programs import them."""
    import importlib
    import sys

    places = {f"lib_{program.seed}": folder / "site-packages", f"main_{program.seed}": folder}
    for name, place in places.items():
        place.mkdir(exist_ok=True)
        text = program.library if name.startswith("lib") else program.text
        (place / f"{name}.py").write_text(text)
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
    importlib.invalidate_caches()
    return {name: importlib.import_module(name) for name in places}


def steps(program: Program, count: int) -> list[tuple[str, str] | None]:
    """What happens between launches: the same in each process."""
    dice = random.Random(program.seed + 1)
    made: list[tuple[str, str] | None] = [None]
    for _ in range(count):
        place, change = dice.choice(program.changes)
        made.append((place, change.replace("V", str(dice.randint(1, 4)))))
    return made


def run(program: Program, folder: Path, count: int, launch_all: bool = True) -> tuple[list[list[Any]], list[list[Any]], Any]:
    """Make changes, and launch after each of them, or after the last. Gives what the kernels and what the functions gave."""
    modules = loaded(program, folder)
    main = modules[f"main_{program.seed}"]
    found, expected = [], []
    made = steps(program, count)
    for number, step in enumerate(made):
        if step is not None:
            exec(step[1], vars(modules[step[0]]))
        if launch_all or number == len(made) - 1:
            found.append([_given(getattr(main, name)) for name in program.kernels])
        expected.append([_given(getattr(main, name.replace("k", "o"))) for name in program.kernels])
    return found, expected, main


def _given(function: Any) -> Any:
    """What a call gives; of an exception, that there was one."""
    try:
        return function()
    except Exception:
        return "raised"
