"""Plain functions in `static`: they are called before each launch, unless all that they read is described and compared."""

import builtins
import gc
import math
import threading
import time
import warnings
import weakref

import pytest
import worlds
from changes import Change, check_between_processes, check_in_one_process, loaded

import samovar as sv
from samovar import compiler

CALL = "@sv.kernel\ndef k() -> sv.i32:\n    return static({})\n"
TOTAL = "def total(x): return sum(x)\n"
GIVEN = "@sv.kernel\ndef k(t: sv.Template) -> sv.i32:\n    return static({})\n"
ARRAY = "import numpy as np\n"
COUNTER = """
class Counter:
    step = 10
    def __init__(self, n): self.n = n; self.unread = 0; self.inner = None
    def count(self): return self.n * self.step
    @property
    def double(self): return self.n * 2
    def twice(self): return self.count() + self.double
    def __len__(self): return self.n
c = Counter(1)
"""
DATA = """
import dataclasses
@dataclasses.dataclass
class Settings:
    n: int = 1
    unread: int = 2
    inner: object = None
s = Settings()
def read(s): return s.n
"""

#: What is given.
GIVEN_THINGS = {
    "a list in place": Change("L = [1, 2]\n" + TOTAL + CALL.format("total(L)"), "L[0] = 5", 3, 7),
    "a list that gets longer": Change("L = [1, 2]\n" + TOTAL + CALL.format("total(L)"), "L.append(5)", 3, 8),
    "a list in its place": Change("L = [1, 2]\n" + TOTAL + CALL.format("total(L)"), "L = [7]", 3, 7),
    "a list in a tuple": Change(
        "T = ([1, 2], 3)\ndef f(t): return sum(t[0])\n" + CALL.format("f(T)"), "T[0].append(4)", 3, 7
    ),
    "a list of lists": Change("L = [[1], [2]]\ndef f(l): return l[1][0]\n" + CALL.format("f(L)"), "L[1][0] = 5", 2, 5),
    "a list that holds itself": Change(
        "L = [1]\nL.append(L)\ndef f(l): return l[1][0]\n" + CALL.format("f(L)"), "L[0] = 5", 1, 5
    ),
    "a dict in place": Change("D = {'a': 1}\ndef f(d): return d['a']\n" + CALL.format("f(D)"), "D['a'] = 5", 1, 5),
    "another key": Change("D = {'a': 1}\ndef f(d): return len(d)\n" + CALL.format("f(D)"), "D['b'] = 5", 1, 2),
    "the order of keys": Change(
        "D = {1: 0, 2: 0}\ndef f(d): return list(d)[0]\n" + CALL.format("f(D)"), "D[1] = D.pop(1)", 1, 2
    ),
    "a set": Change("S = {1}\n" + TOTAL + CALL.format("total(S)"), "S.add(4)", 1, 5),
    "a frozenset": Change("S = frozenset({1})\n" + TOTAL + CALL.format("total(S)"), "S = frozenset({5})", 1, 5),
    "a named tuple": Change(
        "import collections\nP = collections.namedtuple('P', 'a b')\np = P([1], 2)\ndef f(p): return p.a[0]\n"
        + CALL.format("f(p)"),
        "p.a[0] = 5",
        1,
        5,
    ),
    "a default dict": Change(
        "import collections\nD = collections.defaultdict(int, a=1)\ndef f(d): return d['a']\n" + CALL.format("f(D)"),
        "D['a'] = 5",
        1,
        5,
    ),
    "an array's shape": Change(
        ARRAY + "a = np.zeros(3, np.int32)\ndef f(a): return a.shape[0]\n" + CALL.format("f(a)"),
        "a = np.zeros(5, np.int32)",
        3,
        5,
    ),
    "an array's dtype": Change(
        ARRAY + "a = np.zeros(3, np.int32)\ndef f(a): return a.itemsize\n" + CALL.format("f(a)"), "a = np.zeros(3)", 4, 8
    ),
    "elements of a small array": Change(
        ARRAY + "a = np.array([1, 2], np.int32)\ndef f(a): return int(a.sum())\n" + CALL.format("f(a)"), "a[0] = 5", 3, 7
    ),
    "another large array": Change(
        ARRAY + "a = np.ones(1000, np.int32)\ndef f(a): return int(a.sum())\n" + CALL.format("f(a)"), "a = a + 1", 1000, 2000
    ),
    "an array with a type that kernels do not take": Change(
        ARRAY + "L = [np.array(['x'])]\ndef f(l): return len(l[0])\n" + CALL.format("f(L)"),
        "L[0] = np.array(['x', 'y'])",
        1,
        2,
    ),
    "own arrays": Change(
        "a = sv.ndarray(sv.i32, 3)\ndef f(a): return a.shape[0] * 10 + a[0]\n" + CALL.format("f(a)"), "a[0] = 5", 30, 35
    ),
    "a NumPy number": Change(
        ARRAY + "x = np.float32(0.5)\ndef f(x): return int(x * 10) * 10 + x.dtype.itemsize\n" + CALL.format("f(x)"),
        "x = np.float64(0.5)",
        54,
        58,
    ),
    "a member of an enum": Change(
        "class E(enum.Enum):\n    A = 1\n    B = 2\nx = E.A\ndef f(x): return x.value\n" + CALL.format("f(x)"),
        "x = E.B",
        1,
        2,
    ),
    "a flag": Change(
        "class E(enum.Flag):\n    A = 1\n    B = 2\nx = E.A\ndef f(x): return (x | E.B).value\n" + CALL.format("f(x)"),
        "x = E.B",
        3,
        2,
    ),
    "attributes of an object": Change(
        COUNTER + "def f(c): return c.n\n" + CALL.format("f(c)"), "c.n = 5", 1, 5, stored=False
    ),
    "attributes that a property reads": Change(
        COUNTER + "def f(c): return c.double\n" + CALL.format("f(c)"), "c.n = 5", 2, 10, stored=False
    ),
    "attributes that a method of it reads": Change(
        COUNTER + "def f(c): return c.twice()\n" + CALL.format("f(c)"), "c.n = 5", 12, 60, stored=False
    ),
    "attributes of what it holds": Change(
        COUNTER + "c.inner = Counter(3)\ndef f(c): return c.inner.n\n" + CALL.format("f(c)"),
        "c.inner.n = 5",
        3,
        5,
        stored=False,
    ),
    "attributes that its length depends on": Change(
        COUNTER + "def f(c): return len(c)\n" + CALL.format("f(c)"), "c.n = 5", 1, 5, stored=False
    ),
    "its length in static": Change(COUNTER + CALL.format("len(c)"), "c.n = 5", 1, 5, stored=False),
    "a builtin that looks at it": Change(
        COUNTER + CALL.format("hash(c) * 0 + callable(c) + c.count()"), "c.n = 5", 10, 50, stored=False
    ),
    "fields of a dataclass": Change(DATA + CALL.format("read(s)"), "s.n = 5", 1, 5),
    "a dataclass in its place": Change(DATA + CALL.format("read(s)"), "s = Settings(5)", 1, 5),
    "a dataclass in a dataclass": Change(
        DATA + "s.inner = Settings(3)\ndef f(s): return s.inner.n\n" + CALL.format("f(s)"), "s.inner.n = 5", 3, 5
    ),
    "slots": Change(
        "class S:\n    __slots__ = ('n', 'm')\ns = S()\ns.n = 1\ndef f(s): return s.n + getattr(s, 'm', 0)\n"
        + CALL.format("f(s)"),
        "s.n = 5",
        1,
        5,
        stored=False,
    ),
    "a keyword": Change("L = [1]\ndef f(*, x): return sum(x)\n" + CALL.format("f(x=L)"), "L.append(4)", 1, 5),
    "in a tuple of arguments": Change(
        "L = [1]\ndef f(x): return sum(x[1])\n" + CALL.format("f((2, L))"), "L.append(4)", 1, 5
    ),
    "a function": Change("def g(): return 1\ndef f(g): return g()\n" + CALL.format("f(g)"), "def g(): return 5", 1, 5),
    "a template list": Change("L = [1, 2]\n" + TOTAL + GIVEN.format("total(t)"), "L = [3, 4]", 3, 7, "k(L)"),
    "a template dict": Change("L = {1: 0}\n" + TOTAL + GIVEN.format("total(t)"), "L = {9: 0}", 1, 9, "k(L)"),
}

#: What a function is made of.
MADE_OF = {
    "code": Change("def f(): return 1\ndef g(): return 5\n" + CALL.format("f()"), "f.__code__ = g.__code__", 1, 5),
    "a default": Change("def f(n=1): return n\n" + CALL.format("f()"), "f.__defaults__ = (5,)", 1, 5),
    "a list as a default": Change("def f(n=[1]): return n[0]\n" + CALL.format("f()"), "f.__defaults__[0][0] = 5", 1, 5),
    "a keyword default": Change("def f(*, n=1): return n\n" + CALL.format("f()"), "f.__kwdefaults__ = {'n': 5}", 1, 5),
    "a captured variable": Change(
        "def make():\n    n = 1\n    def f(): return n\n"
        "    def change():\n        nonlocal n\n        n = 5\n    return f, change\n"
        "f, change = make()\n" + CALL.format("f()"),
        "change()",
        1,
        5,
    ),
    "a captured list": Change(
        "def make(l):\n    def f(): return l[0]\n    return f\nL = [1]\nf = make(L)\n" + CALL.format("f()"), "L[0] = 5", 1, 5
    ),
    "a captured variable that is assigned later": Change(
        "def make():\n    def f():\n        try: return later\n        except NameError: return 1\n"
        "    def change():\n        nonlocal later\n        later = 5\n    if False: later = 0\n    return f, change\n"
        "f, change = make()\n" + CALL.format("f()"),
        "change()",
        1,
        5,
    ),
    "a global": Change("N = 1\ndef f(): return N\n" + CALL.format("f()"), "N = 5", 1, 5),
    "a global list": Change("L = [1]\ndef f(): return L[0]\n" + CALL.format("f()"), "L[0] = 5", 1, 5),
    "a global of a function that it calls": Change(
        "N = 1\ndef g(): return N\ndef f(): return g()\n" + CALL.format("f()"), "N = 5", 1, 5
    ),
    "a function that it calls": Change(
        "def g(): return 1\ndef f(): return g()\n" + CALL.format("f()"), "def g(): return 5", 1, 5
    ),
    "a global in a function inside": Change(
        "N = 1\ndef f(): return [(lambda: N)() for _ in range(1)][0]\n" + CALL.format("f()"), "N = 5", 1, 5
    ),
    "a global that hides a builtin": Change("def f(): return len('a')\n" + CALL.format("f()"), "def len(x): return 5", 1, 5),
    "an attribute of a global object": Change(COUNTER + "def f(): return c.n\n" + CALL.format("f()"), "c.n = 5", 1, 5),
    "a name of a module": Change(
        "import types\nm = types.ModuleType('m')\nm.n = 1\ndef f(): return m.n\n" + CALL.format("f()"), "m.n = 5", 1, 5
    ),
    "a function of a module": Change(
        "import types\nm = types.ModuleType('m')\nm.g = lambda: 1\ndef f(): return m.g()\n" + CALL.format("f()"),
        "m.g = lambda: 5",
        1,
        5,
    ),
    "a constant of a class": Change("class C: n = 1\ndef f(): return C.n\n" + CALL.format("f()"), "C.n = 5", 1, 5),
    "a constant of the class of an object": Change(COUNTER + CALL.format("c.count()"), "Counter.step = 50", 10, 50),
    "a method of a class": Change(COUNTER + CALL.format("c.twice()"), "Counter.count = lambda self: 5", 12, 7),
    "a property of a class": Change(COUNTER + CALL.format("c.twice()"), "Counter.double = property(lambda self: 5)", 12, 15),
    "an attribute that hides one of the class": Change(COUNTER + CALL.format("c.count()"), "c.step = 50", 10, 50),
    "a namespace": Change(
        "import types\ns = types.SimpleNamespace(n=1)\ndef f(): return s.n\n" + CALL.format("f()"), "s.n = 5", 1, 5
    ),
    "a partial": Change("import functools\nL = [1]\nf = functools.partial(sum, L)\n" + CALL.format("f()"), "L[0] = 5", 1, 5),
    "a partial in its place": Change(
        "import functools\ndef g(n): return n\nf = functools.partial(g, 1)\n" + CALL.format("f()"),
        "f = functools.partial(g, 5)",
        1,
        5,
    ),
    "what a cache wraps": Change(
        "import functools\nN = 1\n@functools.lru_cache\ndef f(x): return x * 10\n" + CALL.format("f(N)"), "N = 5", 10, 50
    ),
    "a bound method": Change(COUNTER + CALL.format("c.count()"), "c.n = 5", 10, 50),
    "a bound method that is kept": Change(COUNTER + "f = c.count\n" + CALL.format("f()"), "c.n = 5", 10, 50),
    "a bound method of another object": Change(
        COUNTER + "f = c.count\n" + CALL.format("f()"), "f = Counter(5).count", 10, 50
    ),
    "a method in the place of a function": Change(
        "class C:\n    def m(self): return 5\ndef f(): return 5\ng = f\n" + CALL.format("g()"), "g = C().m", 5, 5
    ),
    "a method of a list": Change("L = [1, 1]\n" + CALL.format("L.count(1)"), "L.append(1)", 2, 3),
    "a method of a dict": Change("D = {'a': 1}\n" + CALL.format("D.get('a')"), "D['a'] = 5", 1, 5),
    "a view of a dict": Change("D = {'a': 1}\n" + TOTAL + CALL.format("total(D.values())"), "D['a'] = 5", 1, 5),
    "a method of a set": Change("S = {1}\ndef f(s): return len(s)\n" + CALL.format("f(S.union((2,)))"), "S.add(3)", 2, 3),
    "a class": Change(
        "class C:\n    def __init__(self, l): self.n = sum(l)\nL = [1]\ndef f(c): return c.n\n" + CALL.format("f(C(L))"),
        "L.append(4)",
        1,
        5,
        stored=False,
    ),
    "calls in calls": Change(
        "L = [1]\ndef f(x): return [sum(x)]\ndef g(x): return x[0]\n" + CALL.format("g(f(L))"), "L.append(4)", 1, 5
    ),
    "a generator": Change("L = [1]\ndef f(): return sum(x for x in L)\n" + CALL.format("f()"), "L.append(4)", 1, 5),
    "a static method": Change(
        "N = 1\nclass C:\n    @staticmethod\n    def f(): return N\n" + CALL.format("C.f()"), "N = 5", 1, 5
    ),
    "a class method": Change(
        "class C:\n    n = 1\n    @classmethod\n    def f(cls): return N\nN = 1\n" + CALL.format("C.f()"), "N = 5", 1, 5
    ),
    "what a func in it captures": Change(
        "N = 1\ndef g(): return N\n@sv.func\ndef f(x):\n    return static(g()) + x\n"
        "@sv.kernel\ndef k() -> sv.i32:\n    return f(0)\n",
        "N = 5",
        1,
        5,
    ),
}

#: What is read below the result of a call.
BOX = """
import numpy as np
class Box:
    def __init__(self, n=2):
        self.n, self.l, self.d, self.x, self.inner = n, [1, 2], {'a': 1}, np.full(3, n, np.int32), None
    @property
    def half(self): return self.n // 2
    @sv.func
    def f(self, x): return x + self.n
box = Box()
def get(): return box
"""
BELOW = {
    "a number": Change(BOX + CALL.format("get().n"), "box.n = 5", 2, 5),
    "outside of static": Change(BOX + "@sv.kernel\ndef k() -> sv.i32:\n    return static(get()).n\n", "box.n = 5", 2, 5),
    "a property": Change(BOX + CALL.format("get().half"), "box.n = 6", 1, 3),
    "an item": Change(BOX + CALL.format("get().l[1]"), "box.l[1] = 5", 2, 5),
    "a length": Change(BOX + CALL.format("len(get().l)"), "box.l.append(5)", 2, 3),
    "an item of a dict": Change(BOX + CALL.format("get().d['a']"), "box.d['a'] = 5", 1, 5),
    "an object in its place": Change(BOX + CALL.format("get().n"), "box = Box(5)", 2, 5),
    "deeper": Change(BOX + "box.inner = Box(3)\n" + CALL.format("get().inner.n"), "box.inner = Box(5)", 3, 5),
    "that it is not there": Change(BOX + CALL.format("getattr(get(), 'm', 1)"), "box.m = 5", 1, 5),
    "a list that was given": Change("L = [1]\ndef get(): return L\n" + CALL.format("get()[0]"), "L[0] = 5", 1, 5),
    "a list that is made anew": Change("N = 1\ndef get(): return [N]\n" + CALL.format("get()[0]"), "N = 5", 1, 5),
    "a func": Change(BOX + "@sv.kernel\ndef k() -> sv.i32:\n    return static(get()).f(1)\n", "box.n = 5", 3, 6),
    "a func that a call gives": Change(
        "N = 1\n@sv.func\ndef g(x):\n    return x + N\ndef get(): return g\n"
        "@sv.kernel\ndef k() -> sv.i32:\n    return static(get())(1)\n",
        "N = 5",
        2,
        6,
    ),
    "an array's elements": Change(
        BOX + "@sv.kernel\ndef k() -> sv.i32:\n    return static(get()).x[1]\n", "box.x = np.full(3, 5, np.int32)", 2, 5
    ),
    "an array's length": Change(
        BOX + "@sv.kernel\ndef k() -> sv.i32:\n    return static(get()).x.shape[0]\n",
        "box.x = np.full(5, 5, np.int32)",
        3,
        5,
    ),
    "an array's dtype": Change(
        BOX + "@sv.kernel\ndef k() -> sv.i32:\n    return int(static(get()).x[0] * 10 / 4)\n",
        "box.x = np.full(3, 2.0)",
        5,
        5,
    ),
    "an array that a call gives": Change(
        BOX + "def x(): return box.x\n@sv.kernel\ndef k() -> sv.i32:\n    return static(x())[0]\n",
        "box.x = np.full(3, 5, np.int32)",
        2,
        5,
    ),
    "a number of a dataclass": Change(
        DATA + "def get(): return s\n@sv.kernel\ndef k() -> sv.i32:\n    return static(get()).n\n", "s.n = 5", 1, 5
    ),
    "a bound method of what a call gives": Change(
        COUNTER + "def get(): return c\n" + CALL.format("get().count()"), "c.n = 5", 10, 50
    ),
}

#: What plain functions read in ways that no list of names tells.
LAZY = """
class Config:
    _n = None
    def n(self):
        if self._n is None:
            self._n = 1
        return self._n
config, table = Config(), {}
def looked_up(name):
    if name not in table:
        table[name] = 1
    return table[name]
"""
OBJECTS = """
import collections, contextvars, dataclasses, pathlib, sys, types
N = 1
class Base:
    def __init__(self): self.n = 1
    def count(self): return self.n
class Derived(Base):
    def count(self): return super().count()
    def tried(self):
        try: return self.level
        except AttributeError: return 1
    def named(self): return getattr(self, "le" + "vel", 1)
    def all(self): return vars(self).get("level", 1)
    def hidden(self): return self.__dict__["n"]
    def __getattr__(self, name):
        if name.startswith("from_"): return N
        raise AttributeError(name)
class Made:
    def __init__(self): self.cells = N
@dataclasses.dataclass
class Plan:
    cells: int = 0
    def __post_init__(self): self.cells = N
class Level:
    n = 1
    def __get__(self, owner, cls=None): return self.n
class Described: level = Level()
class Meta(type):
    level = 1
class WithMeta(metaclass=Meta): ...
class Empty: ...
@sv.func
def func(): return N
d, described, empty = Derived(), Described(), Empty()
module = types.ModuleType("module_of_changes")
module.n = 1
sys.modules["module_of_changes"] = module
def imported():
    from module_of_changes import n
    return n
def attribute_of_function(): return getattr(attribute_of_function, "n", 1)
def made(): return Made().cells
def planned(): return Plan().cells
def called(): return func()
def descriptor(): return described.level
def of_class(): return getattr(Empty, "n", 1)
def of_metaclass(): return WithMeta.level
def of_module(): return getattr(module, "m", 1)
class Other(Empty): ...
other = Other()
def is_base(): return 5 if isinstance(other, Base) else 1
def made_up(): return d.from_n
queue, user, variable = collections.deque([1]), collections.UserDict(n=1), contextvars.ContextVar("n", default=1)
def length(): return len(queue)
def of_user_dict(): return user["n"]
def of_context(): return variable.get()
def as_dict(): return dataclasses.asdict(plan)["cells"]
plan = Plan()
first, second = [1], [1]
def aliased(a, b):
    a.append(5)
    found = len(b)
    a.pop()
    return found if found == 1 else 5
def same_list(a): return 5 if a is second else 1
def by_function(f): return {one: 5}.get(f, 1)
def one(): return 1
def two(): return 1
def spelled(f): return len("{0.__name__}".format(f))
large = sv.ndarray(sv.i32, 1000)
large.fill(1)
def element(): return large[999]
def stamp(): return int(pathlib.Path(__file__).with_suffix(".n").read_text())
pathlib.Path(__file__).with_suffix(".n").write_text("1")
"""
READS = {
    "an attribute that is made lazily": Change(LAZY + CALL.format("config.n()"), "config._n = 5", 1, 5),
    "an item that is made lazily": Change(LAZY + CALL.format("looked_up('a')"), "table['a'] = 5", 1, 5),
    **{
        name: Change(OBJECTS + CALL.format(call), change, 1, 5)
        for name, call, change in (
            ("super", "d.count()", "d.n = 5"),
            ("what super finds", "d.count()", "Base.count = lambda self: 5"),
            ("an attribute that is not there", "d.tried()", "d.level = 5"),
            ("a name that is put together", "d.named()", "d.level = 5"),
            ("all attributes", "d.all()", "d.level = 5"),
            ("the dictionary", "d.hidden()", "d.n = 5"),
            ("what __getattr__ makes up", "made_up()", "N = 5"),
            ("an import inside", "imported()", "module.n = 5"),
            ("an attribute of a function", "attribute_of_function()", "attribute_of_function.n = 5"),
            ("an object that it makes", "made()", "N = 5"),
            ("a dataclass that it makes", "planned()", "N = 5"),
            ("a func that it calls", "called()", "N = 5"),
            ("a descriptor", "descriptor()", "Level.n = 5"),
            ("a class that gets a name", "of_class()", "Empty.n = 5"),
            ("a metaclass", "of_metaclass()", "Meta.level = 5"),
            ("a module that gets a name", "of_module()", "module.m = 5"),
            ("the bases of a class", "is_base()", "Other.__bases__ = (Base,)"),
            ("a deque", "length()", "queue.extend([1] * 4)"),
            ("a dict of the library", "of_user_dict()", "user['n'] = 5"),
            ("a context variable", "of_context()", "variable.set(5)"),
            ("all fields of a dataclass", "as_dict()", "plan.cells = 5"),
            ("that two names are one list", "aliased(first, second)", "second = first"),
            ("which list it is", "same_list(first)", "first = second"),
            ("which function it is", "by_function(two)", "two = one"),
            ("an element of a large array", "element()", "large[999] = 5"),
            ("a file", "stamp()", "pathlib.Path(__file__).with_suffix('.n').write_text('5')"),
        )
    },
    "an attribute in a format": Change(OBJECTS + CALL.format("spelled(two)"), "two.__name__ = 'twice'", 3, 5),
}

CHANGES = {
    **{f"given: {name}": change for name, change in GIVEN_THINGS.items()},
    **{f"made of: {name}": change for name, change in MADE_OF.items()},
    **{f"below: {name}": change for name, change in BELOW.items()},
    **{f"reads: {name}": change for name, change in READS.items()},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_between_two_launches_is_seen(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_a_change_between_two_processes_is_seen_and_nothing_is_compiled_twice(tmp_path):
    check_between_processes(tmp_path, CHANGES)


# --- what is not to happen


ODD = """
import functools, threading, collections
seen = []
class Odd:
    def __init__(self): self.n = 1
    @functools.cached_property
    def kept(self):
        seen.append('kept')
        return self.n
    @property
    def computed(self):
        seen.append('computed')
        return self.n
    def method(self): return self.n + (self.kept + self.computed if self.n > 100 else 0)
    def __getattr__(self, name):
        seen.append(name)
        raise AttributeError(name)
o, lock, count, memory = Odd(), threading.Lock(), 0, {}
def locked():
    with lock:
        return 1
def counting():
    global count
    count += 1
    return 1
def remembering(x):
    return memory.setdefault(x, 1)
def appending(l):
    l.append(1)
    return 1
def marking(): marking.n = getattr(marking, 'n', 0) + 1; return 1
def recursive(n): return 1 if n == 0 else recursive(n - 1)
L = []
"""


CHANGING = ["o.method()", "locked()", "counting()", "remembering(3)", "appending(L)", "marking()", "recursive(3)"]


@pytest.mark.parametrize("call", CHANGING)
def test_functions_that_change_things_and_give_the_same_look_nothing_up(tmp_path, call):
    module = loaded(tmp_path, ODD + CALL.format(call))
    assert module.k() == 1
    lookups = module.k.cache_observations.lookups
    for _ in range(3):
        assert module.k() == 1
    assert module.k.cache_observations.lookups == lookups


def called_again(kernel):
    """The plain calls that launches of a kernel make."""
    return [call for each in kernel.specializations for call, _ in each.calls]


COMPUTING = """
import math
L, D, FACTOR = [3, 1, 2], {'a': (1, 2.5), 'b': {4}}, 2
def scale(x, by=FACTOR): return x * by
def table(n):
    found = []
    for i in range(n):
        found.append(math.floor(math.sqrt(i)) + scale(i))
    return found
def recursive(n): return 1 if n <= 1 else n * recursive(n - 1)
def chosen(x=None): return sorted(L, key=lambda each: -each)[0] if x is None else len(D['a']) + sum(each for each in L)
def told(n):
    print('computing', n)
    return n
def failing(n):
    try:
        raise ValueError(n)
    except ValueError:
        return n
def adder(n):
    def add(x): return x + n
    return add
"""


@pytest.mark.parametrize(
    ("call", "result"),
    {
        "table(4)[3]": 7, "recursive(5)": 120, "chosen()": 3, "chosen(1)": 8, "told(4)": 4, "failing(2)": 2, "sum(L)": 6,
        "len(D) + scale(x=2, by=5)": 12, "len(f'{L[0]:>4}')": 4,
    }.items(),
)  # fmt: skip
def test_what_only_computes_is_not_called_again(tmp_path, call, result):
    module = loaded(tmp_path, COMPUTING + CALL.format(call))
    assert module.k() == module.k() == result
    assert called_again(module.k) == []


def test_a_function_that_prints_prints_when_it_is_compiled_and_not_at_each_launch(tmp_path, capsys):
    module = loaded(tmp_path, COMPUTING + CALL.format("told(4)"))
    for _ in range(3):
        assert module.k() == 4
    assert capsys.readouterr().out.count("computing") <= 2  # staging may begin again


def test_a_function_that_gives_something_else_each_time_counts_with_what_it_gave(tmp_path):
    sv.init(log_level="error")
    text = "count = 0\ndef f():\n    global count\n    count += 1\n    return count\n" + CALL.format("f()")
    module = loaded(tmp_path, text)
    found = []
    for _ in range(5):
        begun = module.count
        found.append(module.k())
        assert begun < found[-1] <= module.count
    assert found == sorted(set(found))


MAKING = """
made = 0
def make(n):
    global made
    made += 1
    @sv.func
    def add(x):
        return x + n
    return add
def plain(n):
    global made
    made += 1
    def add(x): return x + n
    return add
N = 1
"""


@pytest.mark.parametrize("maker", ["make", "plain"])
def test_functions_that_are_made_anew_at_each_launch_are_those_that_run(tmp_path, maker):
    sv.init(log_level="error")
    module = loaded(tmp_path, MAKING + f"@sv.kernel\ndef k() -> sv.i32:\n    return sv.static({maker}(N))(10)\n")
    for n in (1, 1, 2, 1, 3):
        module.N = n
        assert module.k() == 10 + n
    for _ in range(100):
        module.k()
    assert module.k.cache_observations.compiles == 3
    assert len(module.k.specializations) < 100


def test_what_a_call_raises_is_told_as_when_it_is_compiled(tmp_path):
    text = COUNTER + "def f():\n    if c.n > 3: raise ValueError('too many')\n    return c.n\n" + CALL.format("f()")
    module = loaded(tmp_path, text)
    for n, expected in ((1, 1), (5, None), (2, 2), (1, 1)):
        module.c.n = n
        if expected is None:
            with pytest.raises(sv.SamovarCompilationError, match="too many"):
                module.k()
        else:
            assert module.k() == expected


RELAUNCHING = """
class State:
    is_inside, n = False, 1
state = State()
def f():
    if state.is_inside:
        return state.n
    state.is_inside = True
    found = k()
    state.is_inside = False
    return found + 1
@sv.kernel
def k() -> sv.i32:
    return static(f())
"""


def test_a_function_that_launches_its_own_kernel(tmp_path):
    module = loaded(tmp_path, RELAUNCHING)
    sv.init(log_level="error")
    for n in (1, 1, 4, 4, 1, 7):
        module.state.n = n
        assert module.k() == n + 1


def test_a_function_without_an_end_is_an_error_of_recursion(tmp_path):
    module = loaded(tmp_path, "on = False\ndef f():\n    return k() if on else 1\n" + CALL.format("f()"))
    assert module.k() == 1
    module.on = True
    with pytest.raises(RecursionError):
        module.k()
    module.on = False
    assert module.k() == 1


def test_what_a_call_gives_is_made_anew_for_a_call_that_could_change_it(tmp_path):
    text = "N = 3\ndef numbers(): return [N] * N\ndef taken(l):\n    l.pop()\n    return len(l)\n"
    text += "def one(): return (x for x in range(N))\ndef first(g): return sum(g)\n"
    text += CALL.format("taken(numbers())") + CALL.format("first(one())").replace("def k(", "def other(")
    module = loaded(tmp_path, text)
    for n in (3, 3, 3, 5, 5):
        module.N = n
        assert module.k() == n - 1
        assert module.other() == sum(range(n))


@pytest.mark.parametrize("count", [4, 400])
def test_arrays_that_a_call_makes_are_those_that_are_read(tmp_path, count):
    text = f"import numpy as np\nclass C: n = 1\ndef f(): return np.full({count}, C.n, np.int32)\n"
    module = loaded(tmp_path, text + "@sv.kernel\ndef k() -> sv.i32:\n    return static(f())[3]\n")
    lookups = []
    for n in (1, 2, 3):
        module.C.n = n
        assert module.k() == n
        lookups.append(module.k.cache_observations.lookups)
    assert count < 100 or lookups[0] == lookups[-1]  # small ones are compile-time values


def test_objects_of_one_class_share_code_and_guards(tmp_path):
    module = loaded(tmp_path, COUNTER + GIVEN.format("t.count()"))
    sv.init(log_level="error")
    for _ in range(20):
        assert module.k(module.Counter(3)) == 30
    assert module.k.cache_observations.lookups == 1


def test_a_call_that_takes_long_is_told_of_once(tmp_path):
    text = "import time\ndef slow(x):\n    time.sleep(1e-4)\n    return x\n" + CALL.format("slow(3)")
    module = loaded(tmp_path, text)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(30):
            assert module.k() == 3
    (message,) = [str(each.message) for each in told]
    assert "`slow(3)` inside `sv.static(...)` is called before each launch" in message
    assert "sv.Template" in message


def test_builtins_and_modules_of_python_that_are_exchanged(tmp_path, monkeypatch):
    text = "import math\ndef f(x): return int(math.floor(x))\ndef g(x): return len(x)\n"
    module = loaded(tmp_path, text + CALL.format("f(1.5)") + CALL.format("g('a')").replace("def k(", "def other("))
    assert (module.k(), module.other()) == (1, 1)
    length = len
    with monkeypatch.context() as patch:
        patch.setattr(math, "floor", lambda x: 5)
        patch.setattr(builtins, "len", lambda x: 5 if x == "a" else length(x))
        found = module.k(), module.other()
    assert found == (5, 5)
    assert (module.k(), module.other()) == (1, 1)


def test_variables_of_the_environment(tmp_path, monkeypatch):
    module = loaded(tmp_path, "import os\ndef f(): return int(os.environ['N_OF_TEST'])\n" + CALL.format("f()"))
    for n in (1, 5, 1):
        monkeypatch.setenv("N_OF_TEST", str(n))
        assert module.k() == n


def test_threads_that_launch_while_another_changes_what_is_read(tmp_path):
    module = loaded(tmp_path, COUNTER + CALL.format("c.count()"))
    found, end = [], threading.Event()

    def launch():
        while not end.is_set():
            before = module.c.n
            result = module.k()
            found.append((before, result, module.c.n))

    threads = [threading.Thread(target=launch) for _ in range(3)]
    for each in threads:
        each.start()
    for n in [1, 2, 3] * 60:
        module.c.n = n
        time.sleep(0)
    end.set()
    for each in threads:
        each.join()
    assert found
    assert {result for _, result, _ in found} <= {10, 20, 30}
    assert module.k() == 30


def test_recorded_launches_call_again(tmp_path):
    kernel = "@sv.kernel\ndef k(a: sv.types.NDArray[sv.i32, 1]):\n    for i in a:\n        a[i] = static(c.count())\n"
    module = loaded(tmp_path, COUNTER + kernel)
    a = sv.ndarray(sv.i32, 3)
    with sv.graph.record() as step:
        module.k(a)
    for n in (1, 2, 3, 1):
        module.c.n = n
        step()
        assert a[2] == 10 * n


def test_two_kernels_with_a_function_that_counts_do_not_disturb_each_other(tmp_path):
    text = ODD + CALL.format("counting()") + CALL.format("counting()").replace("def k(", "def other(")
    module = loaded(tmp_path, text)
    for _ in range(3):
        assert module.k() + module.other() == 2
    assert module.k.cache_observations.lookups == module.other.cache_observations.lookups == 1


def test_an_object_that_is_given_is_not_kept_alive(tmp_path):
    module = loaded(tmp_path, COUNTER + "def f(c): return c.n\n" + GIVEN.format("f(t)"))
    sv.init(log_level="error")
    given = module.Counter(3)
    assert module.k(given) == 3
    gone = weakref.ref(given)
    del given
    gc.collect()
    assert gone() is None


def test_what_many_calls_have_in_common_is_compared_once(tmp_path):
    text = "L = [1]\ndef f(l, i): return l[0] + i\n@sv.kernel\ndef k() -> sv.i32:\n    n = 0\n"
    text += "    for i in static(range(20)):\n        n += static(f(L, i))\n    return n\n"
    module = loaded(tmp_path, text)
    assert module.k() == 210
    (specialization,) = module.k.specializations
    names = [instruction[0] for instruction in specialization.keep.guards.instructions]
    assert names.count("contents") == 2
    assert called_again(module.k) == []
    module.L[0] = 2
    assert module.k() == 230


def test_a_change_while_a_kernel_is_compiled_is_seen(tmp_path, monkeypatch):
    module = loaded(tmp_path, "L = [1]\n" + TOTAL + CALL.format("total(L)"))
    compile_kernel = compiler.compile_kernel

    def compile_slowly(*arguments):
        artifact = compile_kernel(*arguments)
        if module.L == [1]:
            module.L[0] = 5
        return artifact

    monkeypatch.setattr(compiler, "compile_kernel", compile_slowly)
    assert module.k() == 5
    assert module.k() == 5


BOTH = """
class A:
    def f(self, x): return x + 1
class B:
    @staticmethod
    def f(x): return x + 2
class C:
    def __init__(self): self.f = A().f
@sv.kernel
def k(o: sv.Template) -> sv.i32:
    return o.f(10)
def main():
    return [k(A()), k(B()), k(C()), k(B()), k(A())]
"""


def test_a_method_and_a_function_under_one_name_are_compiled_once_each(tmp_path):
    folder, counts = worlds.write(tmp_path / "program", {"main.py": BOTH}), []
    for _ in range(3):
        found = worlds.run_elsewhere({"it": (folder, tmp_path / "cache")})["it"]
        assert found["result"] == [11, 12, 11, 12, 11]
        counts.append(found["kernels"])
    assert counts[1:] == [0, 0]
