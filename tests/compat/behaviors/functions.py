"""Functions as values: lambdas, operators, closures, methods, recursion, and what funcs give back."""

import operator

import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def a_func_made_in_a_call():
    start()

    def square(x):
        return x * x

    f = qd.func(square)

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return f(a) + f(a + 1)

    return k(3)


def operators_of_the_module_operator():
    start()
    out = qd.field(qd.i32, 6)

    @qd.kernel
    def k(a: qd.i32, b: qd.i32):
        out[0] = operator.add(a, b)
        out[1] = operator.sub(a, b)
        out[2] = operator.mul(a, b)
        out[3] = operator.neg(a)
        out[4] = operator.mod(a, b)
        out[5] = operator.floordiv(a, b)

    k(17, 5)
    return out


def an_operator_as_an_argument():
    start()

    @qd.func
    def apply(f: qd.template(), a, b):
        return f(a, b)

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.i32:
        return apply(operator.add, a, b) * 100 + apply(operator.mul, a, b)

    return k(4, 3)


def a_func_from_a_table():
    start()

    @qd.func
    def one(x):
        return x + 1

    @qd.func
    def two(x):
        return x * 2

    table = {"one": one, "two": two}
    steps = [one, two, one]

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        y = x
        for f in qd.static(steps):
            y = f(y)
        return y + qd.static(table["two"])(x)

    return k(5)


def a_func_with_a_tuple_as_result():
    start()

    @qd.func
    def divide(a, b):
        return a // b, a % b

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.i32:
        q, r = divide(a, b)
        return q * 100 + r

    return k(17, 5)


def a_func_with_a_list_as_result():
    start()

    @qd.func
    def three(a):
        return [a, a + 1, a + 2]

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        x = three(a)
        return x[0] * 100 + x[1] * 10 + x[2]

    return k(1)


def a_func_that_gives_back_a_field():
    start()
    x = qd.field(qd.f32, 3)
    y = qd.field(qd.f32, 3)

    @qd.func
    def chosen(first: qd.template()):
        return x if qd.static(first) else y

    @qd.kernel
    def k():
        for i in range(3):
            x[i] = i + 1
            y[i] = 10 * i

    @qd.kernel
    def total() -> qd.f32:
        s = 0.0
        for i in qd.static(range(3)):
            s += chosen(True)[i] + chosen(False)[i]
        return s

    k()
    return total()


def a_func_that_gives_back_a_struct():
    start()

    @qd.dataclass
    class Pair:
        a: qd.f32
        b: qd.i32

    @qd.func
    def made(x):
        return Pair(a=x, b=2)

    @qd.kernel
    def k(x: qd.f32) -> qd.f32:
        p = made(x)
        return p.a * p.b

    return k(3.5)


def a_func_without_a_result():
    start()
    x = qd.field(qd.i32, ())

    @qd.func
    def add(n):
        x[None] += n

    @qd.kernel
    def k():
        add(3)
        add(4)

    k()
    return x[None]


def defaults_of_a_func():
    start()

    @qd.func
    def f(a, b=2, c=3):
        return a * 100 + b * 10 + c

    @qd.kernel
    def k() -> qd.i32:
        return f(1) + f(1, 5) + f(1, c=7) + f(a=2, b=0, c=1)

    return k()


def a_closure():
    start()

    def made(n):
        @qd.func
        def f(x):
            return x * n

        return f

    twice, thrice = made(2), made(3)

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        return twice(x) * 100 + thrice(x)

    return k(4)


def kernels_of_a_factory():
    start()

    def made(n):
        @qd.kernel
        def k(x: qd.i32) -> qd.i32:
            return x * n

        return k

    return [made(n)(5) for n in (1, 2, 3)]


def a_static_method():
    start()

    @qd.data_oriented
    class Tool:
        def __init__(self):
            self.n = 3

        @staticmethod
        @qd.func
        def twice(x):
            return 2 * x

        @qd.kernel
        def k(self, x: qd.i32) -> qd.i32:
            return self.twice(x) + Tool.twice(self.n)

    return Tool().k(5)


def a_method_of_the_class_above():
    start()

    @qd.data_oriented
    class Base:
        @qd.func
        def f(self, x):
            return x + 1

        @qd.kernel
        def k(self, x: qd.i32) -> qd.i32:
            return self.f(x)

    @qd.data_oriented
    class Derived(Base):
        @qd.func
        def f(self, x):
            return x + 100

    return [Base().k(1), Derived().k(1)]


def a_property_in_a_kernel():
    start()

    @qd.data_oriented
    class Thing:
        def __init__(self):
            self._n = 7

        @property
        def n(self):
            return self._n

        @qd.kernel
        def k(self) -> qd.i32:
            return self.n * 2

    return Thing().k()


def a_python_function_at_compile_time():
    start()

    def size(n):
        return n * n

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for i in range(qd.static(size(3))):
            s += i
        return s

    return k()


def a_func_in_a_condition():
    start()

    @qd.func
    def is_even(n):
        return n % 2 == 0

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        s = 0
        for i in range(n):
            if is_even(i) and i > 2:
                s += i
        return s

    return k(10)


def a_func_of_a_func():
    start()

    @qd.func
    def f(x):
        return x + 1

    @qd.func
    def g(x):
        return f(x) * 2

    @qd.func
    def h(x):
        return g(f(x)) + g(x)

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        return h(x)

    return k(3)


def a_func_that_changes_its_argument():
    start()

    @qd.func
    def f(x):
        x = x + 5
        return x

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        y = x
        z = f(y)
        return y * 100 + z

    return k(3)


def a_template_argument_that_is_changed():
    start()

    @qd.func
    def f(x: qd.template()):
        x += 5

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        y = x
        f(y)
        return y

    return k(3)


def a_vector_by_value_and_as_a_template():
    start()

    @qd.func
    def by_value(v):
        v[0] = 9
        return v[0]

    @qd.func
    def in_place(v: qd.template()):
        v[1] = 8

    @qd.kernel
    def k() -> qd.i32:
        v = qd.Vector([1, 2, 3])
        w = by_value(v)
        in_place(v)
        return v[0] * 1000 + v[1] * 100 + v[2] * 10 + w

    return k()


def a_field_element_as_a_template():
    start()
    x = qd.Vector.field(2, qd.f32, 3)

    @qd.func
    def grow(v: qd.template()):
        v *= 2.0

    @qd.kernel
    def k():
        for i in x:
            x[i] = [i, i + 1]
            grow(x[i])

    k()
    return x


def a_real_func_with_several_results():
    start()

    @qd.real_func
    def f(n: qd.i32) -> qd.i32:
        found = 0
        if n > 3:
            found = 10
        return found + n

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        return f(n) + f(n + 2)

    return [k(1), k(2), k(3)]


def a_real_func_of_a_real_func():
    start()

    @qd.real_func
    def f(n: qd.i32) -> qd.i32:
        return n * 2

    @qd.real_func
    def g(n: qd.i32) -> qd.i32:
        return f(n) + 1

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        return g(g(n))

    return k(3)


def a_kernel_with_a_lambda_inside():
    start()

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        f = lambda a: a + 1  # noqa: E731
        return f(x)

    return k(3)


def a_def_inside_of_a_kernel():
    start()

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        def f(a):
            return a + 1

        return f(x)

    return k(3)


def a_plain_function_in_a_kernel():
    start()

    def f(a):
        return a + 1

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        return f(x)

    return k(3)


def len_of_things():
    start()
    names = ["a", "b", "c"]

    @qd.kernel
    def k() -> qd.i32:
        return qd.static(len(names)) * 10 + len(names)

    return k()


def a_dictionary_of_numbers():
    start()
    sizes = {"n": 3, "m": 4}

    @qd.kernel
    def k() -> qd.i32:
        return qd.static(sizes["n"]) * 10 + qd.static(sizes["m"])

    return k()


def comprehensions():
    start()

    @qd.kernel
    def k() -> qd.i32:
        v = qd.Vector([i * i for i in range(4)])
        w = qd.Matrix([[i + j for j in range(2)] for i in range(2)])
        return v.sum() * 100 + w.sum()

    return k()


def arguments_that_are_unpacked():
    start()

    @qd.func
    def f(a, b, c):
        return a * 100 + b * 10 + c

    triple = (1, 2, 3)

    @qd.kernel
    def k() -> qd.i32:
        return f(*triple)

    return k()
