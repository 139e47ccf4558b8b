"""Which loops ask whether they are to stop, and which body of a task has them."""

import re

import numpy as np

import samovar as sv

Matrix = sv.types.NDArray[sv.f32, 2]
Numbers = sv.types.NDArray[sv.f64, 1]


def bodies(kernel, *arguments):
    """The functions of a kernel by the end of their name: how often each asks."""
    kernel.precompile(*arguments)
    text = kernel.inspect("llvm")
    found = re.findall(r"^define .*? @\w+\.(?:\w+\.)?(body|patient)\(.*?^}", text, re.MULTILINE | re.DOTALL)
    parts = re.split(r"^define ", text, flags=re.MULTILINE)[1:]
    names = {name: part for part in parts for name in found if re.match(rf".*? @[\w.]+\.{name}\(", part.splitlines()[0])}
    return {name: part.count("call i64 @sv_poll") for name, part in names.items()}


def test_what_can_be_foreseen_asks_in_a_body_of_its_own():
    @sv.kernel
    def product(a: Matrix, b: Matrix, c: Matrix):
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    @sv.kernel
    def triangle(x: Numbers, n: sv.i32):
        for i in x:
            for j in range(i + 1, sv.min(2 * n - 1, x.shape[0] >> 1)):
                x[i] += j

    a = np.zeros((8, 8), np.float32)
    assert bodies(product, a, a.copy(), a.copy()) == {"patient": 2, "body": 0}
    assert bodies(triangle, np.zeros(8), 4) == {"patient": 1, "body": 0}


def test_what_is_written_in_the_code_asks_if_it_is_long():
    @sv.kernel
    def short(x: Numbers):
        for i in x:
            for j in range(60):
                for k in range(60):
                    x[i] += j * k

    @sv.kernel
    def brief(x: Numbers):
        for i in x:
            for j in range(300):
                for k in range(300):
                    x[i] += j * k

    @sv.kernel
    def long(x: Numbers):
        for i in x:
            for j in range(4000):
                for k in range(4000):
                    x[i] += j * k

    for kernel, asks in ((short, False), (brief, False), (long, True)):
        assert {name: count > 0 for name, count in bodies(kernel, np.zeros(8)).items()} == {"body": asks}


def test_what_nobody_knows_asks_where_it_is():
    @sv.kernel
    def rows(starts: sv.types.NDArray[sv.i32, 1], x: Numbers):
        for i in range(x.shape[0]):
            for k in range(starts[i], starts[i + 1]):
                x[i] += k

    @sv.kernel
    def nested(starts: sv.types.NDArray[sv.i32, 1], x: Numbers):
        for i in range(x.shape[0]):
            for k in range(starts[i]):
                for j in range(starts[k]):
                    x[i] += j

    starts = np.zeros(9, np.int32)
    assert bodies(rows, starts, np.zeros(8)) == {"body": 1}
    assert bodies(nested, starts, np.zeros(8)) == {"body": 2}
