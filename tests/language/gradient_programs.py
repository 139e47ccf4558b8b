"""Programs made at random, most of which read elements and overwrite them later, for tests of derivatives.

A program is the text of a module with the arrays of `ARRAYS`, a few kernels, and `run()`, which launches them. It uses what
users write: structs, vectors, matrices, local arrays, slices, functions of all kinds, jumps, loops whose length depends on
data, gathers, scatters onto the same elements, every update, several parallel loops with code between them, early returns,
graphs with loops and sections, recorded launches, checkpointed steps and random numbers.
"""

from __future__ import annotations

from random import Random

#: The expressions of the differentiated arrays.
ARRAYS = ("a", "b", "c", "d", "line", "other", "grid", "arrow", "turn", "ball.at", "ball.mass")
SIZE = 6

#: What `own`, `read_only` and `summed` are made of; a struct array is one.
NAMES = ["a", "b", "c", "d", "line", "grid", "arrow", "turn", "ball"]

HEAD = f"""import samovar as sv

real = sv.REAL
a, b, c, d = (sv.field(real, {SIZE}, needs_grad=True) for _ in range(4))
line = sv.ndarray(real, {SIZE}, needs_grad=True)
other = sv.ndarray(real, (2, {SIZE // 2}), needs_grad=True)
grid = sv.field(real, ({SIZE}, 3), needs_grad=True)
arrow = sv.Vector.field(2, real, {SIZE}, needs_grad=True)
turn = sv.Matrix.field(2, 2, real, {SIZE}, needs_grad=True)
Ball = sv.types.struct(at=sv.types.vector(2, real), mass=real)
ball = Ball.field(shape={SIZE}, needs_grad=True)
order = sv.field(sv.i32, {SIZE})
length = sv.field(sv.i32, {SIZE})
left = sv.ndarray(sv.i32, ())


@sv.func
def helper(x, y):
    if x > y:
        return x * sv.sin(y)
    return x + 0.3 * y * y


@sv.real_func
def power(x: real, n: sv.i32) -> real:
    result = 1.0
    for k in range(n):
        if result > 3.0:
            break
        result = result * x + 0.1
    return result


@sv.func
def split(x, y):
    for k in range(4):
        if x * k > y:
            return x - 0.2 * k * y, y
        x = 0.9 * x + 0.1 * y
    return x, x * y


def weights(count):
    return [0.3 + 0.2 * k for k in range(count)]


@sv.func
def clipped(x):
    return sv.math.clamp(x, -0.6, 0.8)


@sv.func
def raise_by(x: sv.template(), y):
    x += 0.5 * y
    x *= 0.9


@sv.kernel
def move_on():
    for i in order:
        order[i] = (order[i] + 1) % {SIZE}
    for i in length:
        length[i] = (length[i] + order[i]) % 5


@sv.kernel
def on_parts(v: sv.BufferView[real], w: sv.BufferView[real]):
    for i in range(v.size):
        v[i] = sv.sin(v[i]) * w[i] + 0.3 * v[i]


@sv.kernel
def on_whole(x: sv.Template, y: sv.Template):
    for at in sv.grouped(x):
        x[at] += 0.3 * y[at] * x[at]
"""

#: Launches of kernels of the head, and copies.
OTHER_CALLS = (
    "move_on()", "on_parts(line[1:3], line[3:5])", "on_parts(line[3:6], line[:3])", "on_whole(line.reshape(2, 3), other)",
    "on_whole(a, arrow.get_scalar_field(1))",
)
COPIES = ("b.copy_from(a)", "other.copy_from(line.reshape(2, 3))", "line.copy_from(b)", "c.copy_from(ball.mass)")


class Writer:
    """Writes one kernel."""

    def __init__(self, random: Random, serial: bool) -> None:
        self.random = random
        self.serial = serial
        self.lines: list[str] = []
        self.floats: list[str] = []
        self.integers: list[str] = []
        self.vectors: list[str] = []
        self.lists: list[str] = []
        self.count = 0
        self.sliced = False
        self.top = 1
        self.shared: list[str] = []
        self.total = ""
        self.draws = False

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    # --- a task

    def task(self) -> None:
        """A loop over the elements. Iterations of a parallel one write to their own elements, and read those of others only
        where nobody writes; sums go where nothing else goes."""
        random = self.random
        names = random.sample(NAMES, len(NAMES))
        split = random.randint(1, 5)
        self.own, others = names[:split], names[split:]
        self.summed = [others.pop() for _ in range(random.choice([0, 1, 1, 2]))]
        self.least = others.pop() if len(others) > 2 else None
        self.read_only = others
        if self.serial:
            self.own = self.read_only = self.summed = names
        self.floats, self.integers, self.vectors, self.lists = ["scale", *self.shared], ["i", "number"], [], []
        self.margin = random.choice([0, 0, 1, 2])
        form = random.random()
        if "grid" in self.own and form < 0.15 and not self.serial:
            self.margin, self.own, self.integers = 0, ["grid"], ["i", "j", "number"]
            self.emit(self.top, random.choice(["for i, j in grid:", f"for i, j in sv.ndrange({SIZE}, 3):"]))
        elif form < 0.3 and self.margin == 0:
            self.emit(self.top, "for i in a:")
        else:
            self.emit(self.top, f"for i in range({self.margin}, {SIZE - self.margin}):")
        self.body(self.top + 1, random.randint(2, 6))

    def between(self) -> None:
        """Code between the loops of a kernel."""
        random = self.random
        self.own = self.read_only = self.summed = NAMES
        self.least, self.margin, self.serial, before = None, 0, True, self.serial
        self.floats, self.integers, self.vectors, self.lists = ["scale", *self.shared], ["number"], [], []
        kind = random.random()
        if kind < 0.35:
            name = self.name("u")
            self.emit(1, f"{name} = sv.sin({self.expression()})")
            self.shared.append(name)
        elif kind < 0.55:
            self.statement(3, False)  # not deep, so no loop
            self.lines[-1] = self.lines[-1][8:]
        elif kind < 0.75 and not self.total:
            self.total = self.name("s")
            self.emit(1, f"{self.total} = 0.0")
        elif kind < 0.9:
            self.emit(1, f"if {self.condition()}:")
            self.emit(2, "return")
        if self.total and random.random() < 0.5:
            self.shared.append(self.total)
            self.total = ""
        self.serial = before

    def graph(self) -> None:
        """A graph: a loop over a flag around tasks, one of them in a section, and a task behind it."""
        self.emit(1, "for _ in range(1):")
        self.emit(2, "left[None] = number % 3 + 1")
        self.emit(1, "while sv.graph.do_while(left, max_iterations=5):")
        self.top = 2
        self.task()
        self.emit(2, "with sv.graph.parallel_context():")
        self.emit(3, "with sv.graph.parallel():")
        self.top = 4
        self.task()
        self.emit(3, "with sv.graph.parallel():")
        self.emit(4, "for _ in range(1):")
        self.emit(5, "left[None] -= 1")
        self.top = 1
        self.task()

    def index(self) -> str:
        random = self.random
        if self.margin and random.random() < 0.5:
            return f"i + {random.randint(-self.margin, self.margin)}"
        base = random.choice(self.integers)
        if random.random() < 0.3:
            return f"order[({base} + {random.randint(0, SIZE)}) % {SIZE}]"
        return f"({base} + {random.randint(0, SIZE)}) % {SIZE}"

    def number_in(self, name: str, index: str) -> str:
        """A number in an element of an array."""
        random = self.random
        component = random.choice(["0", "1", f"{random.choice(self.integers)} % 2"])
        if name == "grid" and index == "i" and "j" in self.integers and "grid" in self.own:
            return "grid[i, j]"
        if name == "grid":
            return f"grid[{index}, {random.choice(['0', '1', '2', f'{random.choice(self.integers)} % 3'])}]"
        if name == "arrow":
            return random.choice([f"arrow[{index}][{component}]", f"arrow[{index}].x", f"arrow[{index}].y"])
        if name == "turn":
            return f"turn[{index}][{component}, {random.randint(0, 1)}]"
        if name == "ball":
            return random.choice([f"ball[{index}].mass", f"ball[{index}].at[{component}]", f"ball[{index}].at.x"])
        if name == "line" and self.sliced and random.random() < 0.5:
            return f"line[2:][({index}) % {SIZE - 2}]" if self.serial else f"line[0:{SIZE}][{index}]"
        return f"{name}[{index}]"

    def read(self) -> str:
        random = self.random
        if self.serial:
            return self.number_in(random.choice(NAMES), self.index())
        if self.read_only and random.random() < 0.4:
            return self.number_in(random.choice(self.read_only), self.index())
        return self.number_in(random.choice(self.own), "i")

    def target(self) -> str:
        return self.number_in(self.random.choice(self.own), self.index() if self.serial else "i")

    def list_element(self) -> str:
        place = self.random.choice(["0", "2", f"{self.random.choice(self.integers)} % 3"])
        return f"{self.random.choice(self.lists)}[{place}]"

    def expression(self, depth: int = 2) -> str:
        random = self.random
        if depth == 0 or random.random() < 0.2:
            leaf = random.random()
            if leaf < 0.45:
                return self.read()
            if leaf < 0.55 and self.lists:
                return self.list_element()
            if leaf < 0.65 and self.vectors:
                name = random.choice(self.vectors)
                return random.choice([f"{name}[0]", f"{name}.y", f"{name}.norm_sqr()", f"{name}.sum()"])
            if leaf < 0.88:
                return random.choice(self.floats)
            if leaf < 0.94:
                return f"0.1 * {random.choice(self.integers)}"
            if leaf < 0.96 and self.draws:
                return "sv.random(real)"
            if leaf < 0.98:
                return f"sv.static(weights(3))[{random.randint(0, 2)}]"
            return f"{random.uniform(-1.5, 1.5):.3f}"
        one, other = (self.expression(depth - 1) for _ in range(2))
        forms = (
            "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} * {1})", "({0} / (1.5 + {1} * {1}))", "sv.sin({0})",
            "sv.cos({0} * 1.3)", "sv.max({0}, {1})", "sv.min({0}, {1})", "sv.sqrt(1.1 + {0} * {0})", "sv.tanh({0})",
            "sv.exp(-{0} * {0})", "sv.abs({0})", "({0} if {1} > 0.1 else {0} * {1})", "helper({0}, {1})",
            "sv.atan2({0}, 1.0 + {1} * {1})", f"power(sv.tanh({{0}}), {random.choice(self.integers)} % 4)",
            "split({0}, {1})[0]", "split({0}, {1})[1]", "clipped({0})", "sv.select({0} > {1}, {0}, {1} * 0.5)",
            "sv.math.mix({0}, {1}, 0.3)", "(sv.floor({0}) + {1})",
            "(1.0 + {0} * {0}) ** 1.5", "sv.log(1.2 + {0} * {0})", "sv.asin(sv.tanh({0}) * 0.9)",
            "sv.acos(sv.sin({0}) * 0.8)", "sv.math.erf({0})", "sv.math.hypot({0}, 1.0 + {1})",
            "sv.math.log1p({0} * {0})", "sv.math.cbrt(2.0 + sv.sin({0}))",
            "((2.5 + sv.sin({0})) % (1.3 + {1} * {1}))", "sv.rsqrt(1.0 + {0} * {0})", "sv.math.copysign({0}, {1})",
            "sv.atan2({1}, 2.0 + sv.cos({0}))", "sv.math.smoothstep(-1.0, 1.0, {0})", "sv.math.expm1(sv.cos({0}))",
        )  # fmt: skip
        return random.choice(forms).format(one, other)

    def vector(self) -> str:
        """A vector of two."""
        random = self.random
        readable = [*self.own, *self.read_only]
        places = [(name, self.index() if self.serial or name not in self.own else "i") for name in readable]
        forms = [f"sv.Vector([{self.expression(1)}, {self.expression(1)}])"]
        forms += [f"arrow[{at}]" for name, at in places if name == "arrow"]
        forms += [f"ball[{at}].at" for name, at in places if name == "ball"]
        forms += self.vectors
        one, other = random.choice(forms), random.choice(forms)
        turns = [f"turn[{at}]" for name, at in places if name == "turn"]
        wrapped = ["{0} + 0.5 * {1}", "{0} * {1}", f"{self.expression(1)} * {{0}}", "{0}", "sv.sin({0})", "sv.max({0}, {1})"]
        wrapped += ["{0} / (1.2 + {1}.norm_sqr())", "{0} * {1}.dot({0})", "({0} + 2.0).normalized()"]
        wrapped += [f"{each} @ {{0}}" for each in turns] + [f"{each}.transpose() @ {{0}}" for each in turns]
        wrapped += [f"({each} @ {each} + 3.0).inverse() @ {{0}}" for each in turns[:1]]
        wrapped += [f"{each}.determinant() * {{0}} + {each}.trace()" for each in turns[:1]]
        wrapped += [f"sv.polar_decompose({each} + sv.Matrix([[2.0, 0.5], [0.1, 1.0]]))[0] @ {{0}}" for each in turns[:1]]
        wrapped += [f"sv.svd({each} + sv.Matrix([[3.0, 0.5], [0.1, 1.0]]))[1] @ {{0}}" for each in turns[:1]]
        return random.choice(wrapped).format(one, other)

    def condition(self) -> str:
        if self.random.random() < 0.4:
            return f"{self.random.choice(self.integers)} % 3 == {self.random.randint(0, 2)}"
        return f"{self.expression(1)} > {self.random.uniform(-0.5, 0.5):.3f}"

    def body(self, depth: int, count: int, loop: bool = False) -> None:
        before = list(self.floats), list(self.integers), list(self.vectors), list(self.lists)
        for _ in range(count):
            self.statement(depth, loop)
        self.floats, self.integers, self.vectors, self.lists = before

    def statement(self, depth: int, loop: bool) -> None:
        random = self.random
        kinds = ["store"] * 3 + ["update"] * 3 + ["local"] * 2 + ["assign", "assign", "sum", "sum"]
        kinds += ["atomic", "vector", "vector", "vector_store", "list", "list_store", "call"]
        if depth < self.top + 4 and self.integers[0] == "i":
            kinds += ["if", "if", "for", "for", "while"]
        if loop:
            kinds += ["jump"]
        if self.least and self.read_only and depth == self.top + 1 and not self.serial:
            kinds += ["extreme", "extreme"]
        if self.total and depth == self.top + 1 and "i" in self.integers:
            kinds += ["total", "total"]
        getattr(self, f"_{random.choice(kinds)}")(depth, loop)

    def _store(self, depth: int, loop: bool) -> None:
        self.emit(depth, f"{self.target()} = sv.sin({self.expression()}) * 1.2")

    def _update(self, depth: int, loop: bool) -> None:
        sign = self.random.choice(["+=", "-=", "*=", "/="])
        value = f"(1.2 + sv.sin({self.expression()}))" if sign == "/=" else f"sv.cos({self.expression()})"
        self.emit(depth, f"{self.target()} {sign} {value}")

    def _local(self, depth: int, loop: bool) -> None:
        name = self.name("v")
        self.emit(depth, f"{name} = {self.expression()}")
        self.floats.append(name)

    def _assign(self, depth: int, loop: bool) -> None:
        names = [each for each in self.floats if each not in ("scale", *self.shared)]
        if not names:
            return self._local(depth, loop)
        name = self.random.choice(names)
        forms = ["{0} = sv.tanh({1})", "{0} += {1}", "{0} -= sv.sin({1})", "{0} *= sv.cos({1})", "{0} = sv.max({0}, {1})"]
        self.emit(depth, self.random.choice(forms).format(name, self.expression()))

    def _sum(self, depth: int, loop: bool) -> None:
        if not self.summed:
            return self.emit(depth, f"{self.target()} += 0.5 * {self.expression()}")
        name = self.random.choice(self.summed)
        place, value = self.number_in(name, self.index()), f"sv.sin({self.expression()})"
        forms = ["{} += {}", "{} -= {}", "sv.atomic_add({}, {})", "sv.atomic_sub({}, {})"]
        self.emit(depth, self.random.choice(forms).format(place, value))

    def _atomic(self, depth: int, loop: bool) -> None:
        """An atomic update of an element of this iteration, or its old value."""
        random = self.random
        code = random.choice(["add", "sub", "mul", "min", "max", "exchange"])
        call = f"sv.atomic_{code}({self.target()}, sv.cos({self.expression()}))"
        if random.random() < 0.4:
            name = self.name("v")
            self.floats.append(name)
            call = f"{name} = {call}"
        self.emit(depth, call)

    def _total(self, depth: int, loop: bool) -> None:
        """A sum of all iterations."""
        self.emit(depth, f"{self.total} {self.random.choice(['+=', '-='])} 0.2 * sv.sin({self.expression()})")

    def _extreme(self, depth: int, loop: bool) -> None:
        """Iterations share elements that only minima go to, of what no iteration writes."""
        before = self.own, self.floats, self.vectors, self.lists
        self.own, self.floats, self.vectors, self.lists = self.read_only, ["scale"], [], []
        value = f"sv.sin({self.expression()}) - 0.5"
        self.own, self.floats, self.vectors, self.lists = before
        self.emit(depth, f"sv.atomic_min({self.number_in(self.least, self.index())}, {value})")

    def _vector(self, depth: int, loop: bool) -> None:
        if self.vectors and self.random.random() < 0.4:
            name = self.random.choice(self.vectors)
            forms = ["{0} = sv.tanh({1})", "{0} += {1}", "{0} *= sv.cos({1})", "{0}[{3} % 2] = {2}", "{0}.x -= {2}"]
            parts = name, self.vector(), self.expression(1), self.random.choice(self.integers)
            return self.emit(depth, self.random.choice(forms).format(*parts))
        name = self.name("q")
        self.emit(depth, f"{name} = {self.vector()}")
        self.vectors.append(name)

    def _vector_store(self, depth: int, loop: bool) -> None:
        random = self.random
        index = self.index() if self.serial else "i"
        places = [f"arrow[{index}]"] * ("arrow" in self.own) + [f"ball[{index}].at"] * ("ball" in self.own)
        if "turn" in self.own and random.random() < 0.4:
            value = f"sv.sin(({self.vector()}).outer_product(sv.cos({self.vector()})))"
            return self.emit(depth, f"turn[{index}] {random.choice(['=', '+=', '*='])} {value}")
        if "ball" in self.own and random.random() < 0.3:
            return self.emit(depth, f"ball[{index}] = Ball(sv.tanh({self.vector()}), sv.sin({self.expression()}))")
        if not places:
            return self._vector(depth, loop)
        sign = random.choice(["=", "=", "+=", "-=", "*="])
        self.emit(depth, f"{random.choice(places)} {sign} sv.sin({self.vector()})")

    def _list(self, depth: int, loop: bool) -> None:
        name = self.name("t")
        self.emit(depth, f"{name} = [{', '.join(self.expression(1) + ' + 0.0' for _ in range(3))}]")
        self.lists.append(name)

    def _list_store(self, depth: int, loop: bool) -> None:
        if not self.lists:
            return self._list(depth, loop)
        sign = self.random.choice(["=", "+=", "*="])
        self.emit(depth, f"{self.list_element()} {sign} sv.cos({self.expression()})")

    def _call(self, depth: int, loop: bool) -> None:
        """A function that changes what it is given."""
        names = [each for each in self.floats if each not in ("scale", *self.shared)]
        what = self.random.choice(names) if names and self.random.random() < 0.5 else self.target()
        self.emit(depth, f"raise_by({what}, sv.sin({self.expression()}))")

    def _if(self, depth: int, loop: bool) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.body(depth + 1, self.random.randint(1, 2), loop)
        if self.random.random() < 0.5:
            self.emit(depth, "else:")
            self.body(depth + 1, self.random.randint(1, 2), loop)

    def _for(self, depth: int, loop: bool) -> None:
        name = self.name("k")
        inner = self.random.choice(self.integers)
        ranges = ["3", "i % 4", "i, 7, 2", "4, 0, -1", f"{inner} % 3 + 1", "length[i]", f"length[{inner} % {SIZE}]", "0"]
        self.emit(depth, f"for {name} in range({self.random.choice(ranges)}):")
        self.integers.append(name)
        self.body(depth + 1, self.random.randint(1, 3), True)
        self.integers.remove(name)

    def _while(self, depth: int, loop: bool) -> None:
        name, value = self.name("n"), self.name("w")
        self.emit(depth, f"{name} = 0")
        self.emit(depth, f"{value} = {self.expression()}")
        self.floats.append(value)
        limit, most = self.random.uniform(0.5, 4), self.random.randint(2, 5)
        self.emit(depth, f"while {value} * {value} < {limit:.2f} and {name} < {most}:")
        self.emit(depth + 1, f"{name} += 1")
        self.emit(depth + 1, f"{value} = 1.3 * {value} + sv.sin({self.expression(1)})")
        self.body(depth + 1, self.random.randint(0, 2), True)

    def _jump(self, depth: int, loop: bool) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.emit(depth + 1, self.random.choice(["break", "continue"]))


def program(seed: int, real: str = "f64") -> str:
    """The text of a program."""
    random = Random(seed)
    lines = [HEAD.replace("sv.REAL", f"sv.{real}")]
    kernels = []
    for number in range(random.randint(1, 4)):
        serial = random.random() < 0.3
        writer = Writer(random, serial)
        writer.sliced = random.random() < 0.3
        options = "(serial=True)" if serial else ""
        if not serial and random.random() < 0.2:
            writer.graph()
            options = "(graph=True)"
        else:
            writer.draws = not serial and random.random() < 0.2
            for place in range(random.randint(1, 3)):
                if place and random.random() < 0.6:
                    writer.between()
                writer.task()
        lines += [
            f"@sv.kernel{options}", f"def kernel_{number}(scale: real, number: sv.i32):", *writer.lines, "", "",
        ]  # fmt: skip
        kernels.append(f"kernel_{number}")
    launches = [random.choice(kernels) for _ in range(random.randint(1, 5))]
    calls = [f"    {name}({random.uniform(-1, 1):.3f}, {random.randint(0, 9)})" for name in launches]
    form = random.random()
    for _ in range(random.choice([0, 0, 1, 2])):
        calls.insert(random.randint(0, len(calls)), f"    {random.choice(OTHER_CALLS + (COPIES if form >= 0.3 else ()))}")
    if form < 0.15:
        lines += ["with sv.graph.record() as step:", *calls, "", ""]
        lines += ["def run():", "    sv.seed(7)", "    step()", "    step()"]
    elif form < 0.3:
        lines += ["def step(t):", *calls, "", "", "def run():", "    sv.seed(7)", "    sv.ad.checkpointed(step, 3)"]
    else:
        lines += ["def run():", "    sv.seed(7)", *calls]
    return "\n".join(lines) + "\n"
