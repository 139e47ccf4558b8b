"""Edits of small programs, each with its results before and after.

A program is written with what is edited in it: a line that begins with `-` is there before, one that begins with `+` after.
`=== name` begins another file. `result` is what is evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass

import worlds


@dataclass(frozen=True)
class Edit:
    """A program, and what it gives before and after. An error is given by the name of its class."""

    before: object
    after: object
    program: str
    result: str = "k(2)"

    def files(self, changed: bool) -> dict[str, str]:
        """The files before or after the edit."""
        kept, left = ("+", "-") if changed else ("-", "+")
        texts: dict[str, str] = {}
        name = "main.py"
        for line in f"{self.program}=== main.py\ndef main():\n    return {self.result}\n".splitlines(keepends=True):
            if line.startswith("=== "):
                name = line[4:].strip()
            elif not line.startswith(left):
                start = "" if name in texts or name == "main.py" else worlds.HEADER
                texts[name] = texts.get(name, start) + (_unmarked(line) if line.startswith(kept) else line)
        return texts


def _unmarked(line: str) -> str:
    """A line without its mark, which takes the place of a space where it is indented."""
    return f" {line[1:]}" if line[1:2] == " " else line[1:]


ONE = """
@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return n + 1
"""
TOTAL = """
@sv.kernel
def k(n: sv.i32) -> sv.i32:
    total = 0
    for i in range(n):
        total += i * 2
    return total
"""
SETTINGS = """
class Settings:
    n = 1
-   unread = 2
+   unread = [3]

@sv.kernel
def k() -> sv.i32:
    return static(Settings.n)
"""


def captured(before: str, after: str) -> str:
    """A kernel that returns a captured value. A margin of one column is left for the marks of the edit."""
    return f"""
-VALUE = {before}
+VALUE = {after}

@sv.kernel
def k() -> sv.f64:
    return VALUE
"""


MATTERS = {
    "body": Edit(3, 4, ONE.replace("    return n + 1", "-   return n + 1\n+   return n + 2")),
    "operator": Edit(3, 1, ONE.replace("    return n + 1", "-   return n + 1\n+   return n - 1")),
    "type of a literal": Edit(
        0.5,
        0.25,
        """
@sv.kernel
def k(n: sv.i32) -> sv.f32:
-   return n // 3 + 0.5
+   return n / 8
""",
    ),
    "func in the same file": Edit(
        6,
        8,
        """
@sv.func
def step(n: sv.i32) -> sv.i32:
-   return n * 3
+   return n * 4

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return step(n)
""",
    ),
    "func in another file": Edit(
        6,
        8,
        """
from other import step

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return step(n)
=== other.py
@sv.func
def step(n: sv.i32) -> sv.i32:
-   return n * 3
+   return n * 4
""",
    ),
    "func two calls deep": Edit(
        7,
        9,
        """
import other

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return other.step(n)
=== other.py
import third

@sv.func
def step(n: sv.i32) -> sv.i32:
    return third.deeper(n) + 1
=== third.py
@sv.func
def deeper(n: sv.i32) -> sv.i32:
-   return n * 3
+   return n * 4
""",
    ),
    "constant of a func two calls deep": Edit(
        7,
        9,
        """
import other

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return other.step(n)
=== other.py
import third

@sv.func
def step(n: sv.i32) -> sv.i32:
    return third.deeper(n) + 1
=== third.py
-FACTOR = 3
+FACTOR = 4

@sv.func
def deeper(n: sv.i32) -> sv.i32:
    return n * FACTOR
""",
    ),
    "static method": Edit(
        6,
        8,
        """
class Steps:
    @staticmethod
    @sv.func
    def step(n: sv.i32) -> sv.i32:
-       return n * 3
+       return n * 4

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return Steps.step(n)
""",
    ),
    "method": Edit(
        6,
        8,
        """
@sv.data_oriented
class Steps:
    @sv.func
    def step(self, n: sv.i32) -> sv.i32:
-       return n * 3
+       return n * 4

    @sv.kernel
    def k(self, n: sv.i32) -> sv.i32:
        return self.step(n)
""",
        "Steps().k(2)",
    ),
    "inherited method": Edit(
        6,
        8,
        """
class Base:
    @sv.func
    def step(self, n: sv.i32) -> sv.i32:
-       return n * 3
+       return n * 4

@sv.data_oriented
class Steps(Base):
    @sv.kernel
    def k(self, n: sv.i32) -> sv.i32:
        return self.step(n)
""",
        "Steps().k(2)",
    ),
    "member": Edit(
        6,
        8,
        """
@sv.data_oriented
class Steps:
    def __init__(self):
-       self.factor = 3
+       self.factor = 4

    @sv.kernel
    def k(self, n: sv.i32) -> sv.i32:
        return n * self.factor
""",
        "Steps().k(2)",
    ),
    "default of a func": Edit(
        5,
        7,
        """
@sv.func
-def step(n: sv.i32, by: sv.i32 = 3) -> sv.i32:
+def step(n: sv.i32, by: sv.i32 = 5) -> sv.i32:
    return n + by

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return step(n)
""",
    ),
    "default of a kernel": Edit(
        5,
        7,
        """
-BY = 3
+BY = 5

@sv.kernel
def k(n: sv.i32, by: sv.Template = BY) -> sv.i32:
    return n + by
""",
    ),
    "annotation of a parameter": Edit(
        0.30000001192092896,
        0.3,
        """
-T = sv.f32
+T = sv.f64

@sv.kernel
def k(x: T) -> sv.f64:
    return x
""",
        "k(0.3)",
    ),
    "annotation of the result": Edit(
        0.30000001192092896,
        0.3,
        """
-T = sv.f32
+T = sv.f64

@sv.kernel
def k(x: sv.f64) -> T:
    return x
""",
        "k(0.3)",
    ),
    "annotation of a func": Edit(
        2,
        2.5,
        """
-T = sv.i32
+T = sv.f64

@sv.func
def f(x: T):
    return x

@sv.kernel
def k(x: sv.f64) -> sv.f64:
    return f(x)
""",
        "k(2.5)",
    ),
    "captured int": Edit(2, 3, captured("2", "3"), "k()"),
    "captured int that becomes a float": Edit(2, 2.5, captured("2", "2.5"), "k()"),
    "captured float": Edit(1.5, 2.5, captured("1.5", "2.5"), "k()"),
    "captured zero": Edit("0.0", "-0.0", captured("0.0", "-0.0"), "str(k())"),
    "captured bool": Edit(1, 0, captured("True", "False"), "k()"),
    "gradient of an argument": Edit(
        1,
        2,
        """
-def make(): return sv.ndarray(sv.f32, 2)
+def make(): return sv.ndarray(sv.f32, 2, needs_grad=True)

@sv.kernel
def k(a: sv.types.NDArray[sv.f32, 1]) -> sv.i32:
    return 1 if static(a.grad is None) else 2
""",
        "k(make())",
    ),
    "gradient of a member": Edit(
        1,
        2,
        """
@sv.data_oriented
class Holder:
    def __init__(self):
-       self.a = sv.ndarray(sv.f32, 2)
+       self.a = sv.ndarray(sv.f32, 2, needs_grad=True)

@sv.kernel
def k(holder: sv.Template) -> sv.i32:
    return 1 if static(holder.a.grad is None) else 2
""",
        "k(Holder())",
    ),
    "func parameter that is taken by position only": Edit(
        3,
        "SamovarSignatureError",
        """
@sv.func
-def f(n, m):
+def f(n, m, /):
    return n + m

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return f(n, m=1)
""",
    ),
    "name in a declaration of a field": Edit(
        3,
        2**40,
        """
from dataclasses import dataclass

def make():
-   Wide = sv.i64
    @dataclass
    class Numbers:
        n: "Wide"
    return Numbers

+Wide = sv.i64
Numbers = make()

@sv.kernel
def k(numbers: Numbers) -> sv.i64:
    return numbers.n
""",
        "k(Numbers(2**40)) if \"Wide\" in globals() else k(Numbers(3))",
    ),
    "list that becomes a tuple": Edit(
        6,
        6,
        """
-T = [1, 2, 3]
+T = (1, 2, 3)

@sv.kernel
def k() -> sv.i32:
    total = 0
    for i in static(range(len(T))):
        total += T[i]
    return total
""",
        "k()",
    ),
    "list in an argument that becomes a tuple": Edit(
        3,
        3,
        """
-def make(): return [[1, 2], 3]
+def make(): return [(1, 2), 3]

@sv.kernel
def k(t: sv.Template) -> sv.i32:
    return t[0][0] + t[0][1]
""",
        "k(make())",
    ),
    "builtin that becomes a global": Edit(
        2,
        2,
        """
+from builtins import max

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return max(n, 2)
""",
        "k(1)",
    ),
    "captured enum value": Edit(
        1,
        2,
        """
class Mode(enum.Enum):
-   A = 1
+   A = 2

@sv.kernel
def k() -> sv.i32:
    return Mode.A.value
""",
        "k()",
    ),
    "captured enum value that is a tuple": Edit(
        12,
        13,
        """
class Mode(enum.Enum):
-   A = (1, 2)
+   A = (1, 3)

@sv.kernel
def k(mode: sv.Template) -> sv.i32:
    return static(mode.value[0]) * 10 + static(mode.value[1])
""",
        "k(Mode.A)",
    ),
    "captured enum that becomes one of numbers": Edit(
        0,
        1,
        """
-class Mode(enum.Enum):
+class Mode(enum.IntEnum):
    FAST = 3

MODE = Mode.FAST

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return 1 if static(MODE == 3) else 0
""",
    ),
    "captured enum that gets a comparison of its own": Edit(
        0,
        1,
        """
class Mode(enum.Enum):
    FAST = 3
+   def __eq__(self, other):
+       return other == 3

MODE = Mode.FAST

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return 1 if static(MODE == 3) else 0
""",
    ),
    "comparison of a captured enum": Edit(
        1,
        0,
        """
class Mode(enum.Enum):
    FAST = 3
    def __eq__(self, other):
-       return other == 3
+       return other == 4

MODE = Mode.FAST

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return 1 if static(MODE == 3) else 0
""",
    ),
    "captured enum member": Edit(
        1,
        2,
        """
class Mode(enum.IntEnum):
    A = 1
    B = 2
-   DEFAULT = 1
+   DEFAULT = 2

@sv.kernel
def k() -> sv.i32:
    return 1 if static(Mode.DEFAULT == Mode.A) else 2
""",
        "k()",
    ),
    "captured dtype": Edit(
        0.30000001192092896,
        0.3,
        """
-T = sv.f32
+T = sv.f64

@sv.kernel
def k() -> sv.f64:
    return sv.cast(sv.f64(0.3), T)
""",
        "k()",
    ),
    "captured tuple": Edit(
        6,
        7,
        """
-TABLE = (1, 2, 3)
+TABLE = (1, 2, 4)

@sv.kernel
def k() -> sv.i32:
    total = 0
    for x in static(TABLE):
        total += x
    return total
""",
        "k()",
    ),
    "captured tuple that gets longer": Edit(
        6,
        10,
        """
-TABLE = (1, 2, 3)
+TABLE = (1, 2, 3, 4)

@sv.kernel
def k() -> sv.i32:
    total = 0
    for x in static(TABLE):
        total += x
    return total
""",
        "k()",
    ),
    "constant of a module": Edit(
        2,
        3,
        """
import settings

@sv.kernel
def k() -> sv.i32:
    return settings.N
=== settings.py
-N = 2
+N = 3
""",
        "k()",
    ),
    "function rebound": Edit(
        3,
        1,
        """
@sv.func
def f(n: sv.i32):
    return n + 1

@sv.func
def g(n: sv.i32):
    return n - 1

-step = f
+step = g

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return step(n)
""",
    ),
    "closure": Edit(
        5,
        6,
        """
def make(m):
    @sv.kernel
    def k(n: sv.i32) -> sv.i32:
        return n + m
    return k

def made():
-   return make(3)
+   return make(4)
""",
        "made()(2)",
    ),
    "builtin shadowed by a func": Edit(
        2,
        30,
        """
@sv.func
-def other(a: sv.i32, b: sv.i32):
+def min(a: sv.i32, b: sv.i32):
    return b * 10

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return min(n, 3)
""",
    ),
    "template value": Edit(
        0,
        1,
        """
@sv.kernel
def k(t: sv.Template) -> sv.i32:
    return t // 2

def value():
-   return 1
+   return 2
""",
        "k(value())",
    ),
    "annotated local": Edit(
        0.30000001192092896,
        0.3,
        """
@sv.kernel
def k(n: sv.f64) -> sv.f64:
-   x: sv.f32 = 0
+   x: sv.f64 = 0
    x = n
    return x
""",
        "k(0.3)",
    ),
    "local that gets an annotation": Edit(
        2.5,
        2,
        """
@sv.kernel
def k(n: sv.f64) -> sv.f64:
-   x = 0
+   x: sv.i32 = 0
    x = n
    return x
""",
        "k(2.5)",
    ),
    "result chosen by an expression or by an if": Edit(
        16777216,
        16777217,
        """
@sv.kernel
def k(n: sv.i32) -> sv.f64:
-   return 16777217 if n else 2.5
+   if n: return 16777217
+   return 2.5
""",
    ),
    "local chosen by an expression or by an if": Edit(
        2.5,
        2,
        """
@sv.kernel
def k(n: sv.i32) -> sv.f64:
-   x = sv.i32(1) if n else 2.5
+   if n: x = sv.i32(1)
+   else: x = 2.5
    return x
""",
        "k(0)",
    ),
    "function called in static": Edit(
        8,
        10,
        """
def table(n):
-   return [n * 4, n]
+   return [n * 5, n]

@sv.kernel
def k() -> sv.i32:
    return static(table(2)[0])
""",
        "k()",
    ),
    "what a function called in static reads": Edit(
        8,
        10,
        """
class State:
-   factor = 4
+   factor = 5

def table(n):
    return [n * State.factor, n]

@sv.kernel
def k() -> sv.i32:
    return static(table(2)[0])
""",
        "k()",
    ),
    "list": Edit(
        3,
        4,
        """
TABLE = [1, 2]
+TABLE[1] = 3

@sv.kernel
def k() -> sv.i32:
    return static(TABLE[0]) + static(TABLE[1])
""",
        "k()",
    ),
    "dict": Edit(
        3,
        4,
        """
TABLE = {"a": 1, "b": 2}
+TABLE["b"] = 3

@sv.kernel
def k() -> sv.i32:
    return static(TABLE["a"]) + static(TABLE["b"])
""",
        "k()",
    ),
    "type of a field": Edit(
        0.30000001192092896,
        0.3,
        """
from dataclasses import dataclass

@dataclass
class Point:
-   x: sv.f32
+   x: sv.f64

@sv.kernel
def k(p: Point) -> sv.f64:
    return p.x
""",
        "k(Point(0.3))",
    ),
    "decorator of a class": Edit(
        7,
        7,
        """
-@sv.data_oriented
+@sv.data_oriented(stable_members=True)
class C:
    def __init__(self):
        self.n = 7

    @sv.kernel
    def k(self) -> sv.i32:
        return self.n
""",
        "C().k()",
    ),
    "option of a decorator": Edit(
        3,
        "SamovarCompilationError",
        """
n = 3

-@sv.kernel
+@sv.kernel(fastcache=True)
def k() -> sv.i32:
    return n
""",
        "k()",
    ),
}

DOES_NOT_MATTER = {
    "comment": Edit(3, 3, ONE.replace("    return n + 1", "-   return n + 1\n+   # more\n+   return n + 1  # one")),
    "comment, in a function with locals": Edit(
        6, 6, TOTAL.replace("    total = 0", "-   total = 0\n+   # from\n+   total = 0  # nothing"), "k(3)"
    ),
    "docstring": Edit(3, 3, ONE.replace("    return", "+   'One more.'\n    return")),
    "docstring, in a function with locals": Edit(6, 6, TOTAL.replace("    total = 0", "+   'Sum.'\n    total = 0"), "k(3)"),
    "parentheses": Edit(3, 3, ONE.replace("    return n + 1", "-   return n + 1\n+   return (n  +  (1))")),
    "spaces, in a function with locals": Edit(
        6, 6, TOTAL.replace("    total = 0", "-   total = 0\n+   total   =   (0)"), "k(3)"
    ),
    "lines above": Edit(6, 6, f"+OTHER = 1\n+\n+def unrelated():\n+    pass\n{TOTAL}", "k(3)"),
    "unread name": Edit(3, 3, f"-UNREAD = 1\n+UNREAD = 2\n{ONE}"),
    "unread attribute": Edit(1, 1, SETTINGS, "k()"),
    "unread item": Edit(
        1,
        1,
        """
-TABLE = [1, 2]
+TABLE = [1, 3]

@sv.kernel
def k() -> sv.i32:
    return static(TABLE[0])
""",
        "k()",
    ),
    "unread member": Edit(
        4,
        4,
        """
@sv.data_oriented
class C:
    def __init__(self):
        self.n = 4
-       self.other = 1
+       self.other = object()

    @sv.kernel
    def k(self) -> sv.i32:
        return self.n
""",
        "C().k()",
    ),
    "branch that is not taken": Edit(
        1,
        1,
        """
FLAG = False
-N = 3
+N = 4

@sv.kernel
def k() -> sv.i32:
    if static(FLAG):
        return N
    return 1
""",
        "k()",
    ),
    "value of a scalar argument": Edit(
        3, 10, f"{ONE}\ndef value():\n-   return 2\n+   return 9\n", "k(value())"
    ),
    "shape of an array": Edit(
        3,
        5,
        """
@sv.kernel
def k(a: sv.types.NDArray[sv.f32, 1]) -> sv.i32:
    return a.shape[0]

def array():
-   return sv.ndarray(sv.f32, 3)
+   return sv.ndarray(sv.f32, 5)
""",
        "k(array())",
    ),
    "func that is not called": Edit(
        3, 3, f"@sv.func\ndef f(n: sv.i32):\n-   return n + 7\n+   return n + 8\n{ONE}"
    ),
}

RENAMED = {
    "renamed local": Edit(
        6,
        6,
        """
@sv.kernel
def k(n: sv.i32) -> sv.i32:
-   total = 0
+   sum = 0
    for i in range(n):
-       total += i * 2
+       sum += i * 2
-   return total
+   return sum
""",
        "k(3)",
    ),
    "renamed loop variable": Edit(
        2,
        2,
        """
@sv.kernel
def k(a: sv.types.NDArray[sv.i32, 1]):
-   for i in a:
+   for at in a:
-       a[i] = i
+       a[at] = at

def last(a):
    k(a)
    return a[2]
""",
        "last(sv.ndarray(sv.i32, 3))",
    ),
}

EDITS = {**MATTERS, **DOES_NOT_MATTER, **RENAMED}
