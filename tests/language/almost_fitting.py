"""Programs that almost fit a rewrite of loops: each differs in one thing from one that does, and is compiled otherwise.

A program is the body of a kernel with the arrays `x` and `y` to read (f32), `p` and `q` (i32), the results `o` (f32) and `r`
(i32), all of 400 elements, the matrix `m` (f32, 20 × 20), and the integers `n` and `k`. It runs as plain Python, too.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np

from .plain_python import InPython, Plain, python_function

SIZE, SIDE = 400, 20
HEAD = """{funcs}
@sv.kernel
def k(x: N[sv.f32, 1], y: N[sv.f32, 1], p: N[sv.i32, 1], q: N[sv.i32, 1], o: N[sv.f32, 1], r: N[sv.i32, 1],
      m: N[sv.f32, 2], n: sv.i32, k: sv.i32):
"""
SERIAL = "sv.loop_config(serialize=True)\n"

FUNCS = {
    "looping": """
@sv.func
def looping(a, b):
    while a > 0:
        a -= b
        if a > 100:
            return a
    return a
""",
    "leaving": """
@sv.func
def leaving(a, b):
    for j in range(b):
        if a == j:
            return 1
        if a == 2 * j + 1:
            return 2
        if a == -j:
            return 3
        if a == -2 * j - 1:
            return 4
        a += b
        if a > 50:
            return 5
        if a < -50:
            return 6
        if a == 49:
            return 7
        if a == 48:
            return 8
    return a
""",
    "powers": """
@sv.func
def powers(a, b):
    for j in range(2):
        if a > j:
            a += b ** (a & 3)
    return a
""",
    "long_chain": f"""
@sv.func
def long_chain(a, b):
    if a > b:
        a = {" + ".join(f"(a ^ {k})" for k in range(40))}
    return a & 63
""",
}

PROGRAMS: dict[str, str] = {
    # --- variables that are read after a loop
    "read after the loop around": SERIAL + """
for i in range(k):
    t = 0.0
    for j in range(n):
        t = x[j] * 2
        if t > 1:
            o[j] = t
    o[n] = t
""",
    "read after the loop around that": SERIAL + """
for a in range(1):
    t = sv.f32(0.0)
    for i in range(k):
        t = 0.0
        for j in range(n):
            t = x[j] * 2
            if t > 1:
                o[j] = t
    o[n] = t
""",
    "read after a break": SERIAL + """
for a in range(1):
    t = sv.f32(0.0)
    c = k
    while c > 0:
        for j in range(n):
            t = x[j] * 2
            if t > 1:
                o[j] = t
        break
    o[n] = t
""",
    "read after a continue": SERIAL + """
for a in range(2):
    t = sv.f32(0.0)
    for i in range(k):
        if i > 0:
            o[n + i] = t
        for j in range(n):
            t = x[j] + i
            if t > 1:
                o[j] = t
        if i == 1:
            continue
        t = 5.0
""",
    "carried by a condition": SERIAL + """
for a in range(1):
    t = sv.f32(0.0)
    for j in range(n):
        if x[j] > 0:
            t = x[j]
        o[j] = t
""",
    # --- elements that are carried
    "what the first iteration takes is changed in the loop": SERIAL + """
for i in range(1, n):
    o[0] = x[0] + 5
    o[i] = o[i - 1] + x[i]
""",
    "what the first two iterations take is changed in the loop": SERIAL + """
for i in range(2, n):
    r[1] = p[3] + 4
    r[i] = min(r[i - 1] - r[i - 2], 50)
""",
    "the next row, but another column": SERIAL + """
for i in range(min(n, 19)):
    m[i + 1, i // 2] = m[i, i // 2] + 1
""",
    "further on, by more than one": SERIAL + """
for i in range(n // 2):
    o[i + i // 2 + 1] = o[i + i // 2] + x[i]
""",
    "a part of the next record": """
for i in range(min(n, 1)):
    o[2 * i] = x[i]
    o[2 * i + 1] = x[i] + o[2 * i + 2]
    if x[i] > 0:
        r[i] = 2
""",
    "both sides store lanes already": """
for i in range(1, n):
    for j in range(k):
        if j != 0:
            r[i] = r[i] & 63
        else:
            if j >= p[i]:
                r[i] = j - i
""",
    "a loop without iterations": SERIAL + """
for i in range(n):
    for j in range(k, k):
        if x[j] > 0:
            o[j] += x[j] * i
""",
    # --- what is gathered
    "a sum of several terms at the edges": """
for i in range(n):
    if x[i] > 0:
        r[0] += p[max(i - 1, 0)]
        r[0] += p[i]
        r[0] -= p[min(i + 1, n - 1)]
""",
    "a sum that begins anew": """
for a in range(4):
    t = 0
    for j in range(n):
        t += p[j]
        if p[j] == 3:
            t = 0
    r[a] = t
""",
    "two operations on one variable": """
for a in range(4):
    t = 0
    for j in range(n):
        t += p[j]
        t = min(t, 50)
    r[a] = t
""",
    "a difference the other way": """
for a in range(4):
    t = 0
    for j in range(n):
        if p[j] > 0:
            t = p[j] - t
    r[a] = t
""",
    "a sum of itself": """
for a in range(4):
    t = 1
    for j in range(n):
        if p[j] == 3:
            t = (t + p[j]) + (t + 1)
    r[a] = t
""",
    "a sum that decides": """
for a in range(4):
    t = 0
    for j in range(n):
        if t < 100:
            t += p[j]
    r[a] = t
""",
    "a minimum by comparison": SERIAL + """
for a in range(1):
    low, high = x[n], x[n]
    for j in range(n):
        if x[j] < low:
            low = x[j]
        if abs(x[j] - y[j]) >= high:
            high = abs(x[j] - y[j])
    o[0] = low
    o[1] = high
""",
    "an extreme that goes both ways": """
for a in range(4):
    t = 5
    for j in range(n):
        if p[j] < t:
            t = p[j]
        if q[j] > t:
            t = q[j]
    r[a] = t
""",
    "a minimum of what was there before": """
for a in range(4):
    t = p[a]
    for j in range(n):
        old = t
        if p[j] < old:
            t = p[j]
        if p[j] - q[j] < old:
            t = p[j] - q[j]
    r[a] = t
""",
    "a minimum and one more": """
for a in range(4):
    t = p[a]
    for j in range(n):
        if p[j] < t:
            t = p[j] + 1
    r[a] = t
""",
    "a minimum of what was there before a loop": """
for a in range(4):
    t = p[a]
    for j in range(n):
        old = t
        for b in range(k + 1):
            if p[j + b] < old:
                t = p[j + b]
    r[a] = t
""",
    "a flag that data sets": """
for a in range(4):
    t = p[a] > 9
    for j in range(n):
        if p[j] == 3:
            t = True
    r[a] = int(t)
""",
    "a sum that is written on the way": """
for a in range(4):
    t = 0
    for j in range(n):
        t += p[j]
        if p[j] > 2:
            r[a * 100 + j % 100] = t
""",
    "updates whose order is asked for": SERIAL + """
for a in range(1):
    for i in range(n):
        old = r[q[i]]
        r[q[i]] += 1
        r[q[i + 1]] += 2
        if old > 2:
            o[i] = old
""",
    # --- elements that iterations share
    "the element before": SERIAL + """
for i in range(1, n):
    if x[i] > 0:
        o[i] = o[i - 1] * 0.5 + x[i]
""",
    "the element after": SERIAL + """
for i in range(n):
    if x[i] > 0:
        o[i] = o[i + 1] + x[i]
""",
    "every other element, by one": SERIAL + """
for i in range(n // 2):
    if x[i] > 0:
        o[2 * i] = o[2 * i + 2] + x[i]
""",
    "an element that data chooses": SERIAL + """
for i in range(n):
    if x[i] > 0:
        o[q[i]] = x[i]
""",
    "one element for all": SERIAL + """
for a in range(2):
    for i in range(n):
        if x[i] > 1:
            o[a] = x[i]
""",
    "an element of a row and of a column": SERIAL + """
for c in range(1, 19):
    for j in range(c, 20):
        m[3, c] = m[3, c] * 0.5 + m[3, j]
""",
    "an element of a row that is not in it": SERIAL + """
for c in range(1, 19):
    for j in range(c + 1, 20):
        m[3, c] = m[3, c] * 0.5 + m[3, j]
""",
    # --- indices at the edges
    "a modulus of twice what is added": """
for j in range(2 * k):
    o[j] = x[(j + k) % (2 * k)]
""",
    "a modulus of a narrow type": """
for j in range(n):
    o[j] = x[(j + k + 256) % sv.i32(sv.i8(k + 256))]
""",
    "an extreme of a narrow type": """
for j in range(n):
    o[j] = x[max(sv.i32(sv.i8(j)), 0)]
""",
    "a condition on a narrow type": """
for j in range(n):
    if sv.i32(sv.i8(j)) > 0:
        o[j] = x[j]
""",
    "a condition in the middle": """
for j in range(n):
    if j > n // 2:
        o[j] = x[j]
""",
    "an edge far inside": """
for j in range(n):
    o[j] = x[min(j, 7)] + x[max(j - 40, 0)]
""",
    "edges of a loop with a step": SERIAL + """
for j in range(0, n, 2):
    o[j] = x[max(j - 1, 0)]
""",
    "an edge after an edge": """
for j in range(n):
    o[j] = x[min(max(j - 1, 0) + 1, n - 1)]
""",
    "equal products in two loops": SERIAL + """
for a in range(2):
    if n > 3:
        for j in range(n):
            o[j] += x[min(j + k * k, 300)]
    for j in range(n):
        o[j] += x[min(j + k * k, 300)]
""",
    "a product of the loop around": """
for i in range(30):
    s = sv.f32(0)
    for j in range(k):
        s = s * 0.5 + x[max(i * k + j - 1, 0)]
    o[i] = s
""",
    "an edge that no condition guards": """
for j in range(n):
    if k > 5:
        o[j] = x[min(j, n // (k - 5))]
    else:
        o[j] = x[j]
""",
    # --- lanes that leave, join and wait
    "lanes that begin later": """
for i in range(n):
    t = sv.f32(1.0)
    for j in range(q[i], 25):
        t = t * 0.5 + x[j]
        if t > 5.0:
            break
        o[i] += t
""",
    "lanes with other steps": """
for i in range(n):
    t = 0
    for j in range(q[i] + 20, q[i] - 10, -3):
        t += j * p[j % 7]
        if t > 90:
            break
    r[i] = t
""",
    "a step of each lane": """
for i in range(n):
    t = 0
    for j in range(0, q[i] + 9, 1 + i % 3):
        t += j
    r[i] = t
""",
    "a step of all lanes": """
for i in range(n):
    t = 0
    for j in range(q[i], q[i] + 9, k):
        t += j
        if t > 50:
            continue
        t += 1
    r[i] = t
""",
    "loops within loops that lanes leave": """
for i in range(n):
    a = p[i] + 10
    t = 0
    while a > 0:
        a -= 1
        if a == 3:
            continue
        t += a
        if t > 20:
            break
        for b in range(a):
            t += b
            if b == 2:
                continue
            if b > 4:
                break
            t -= 1
    r[i] = t
""",
    "a function that returns early": """
for i in range(n):
    r[i] = looping(p[i], 2) + looping(q[i], 3)
""",
    "elements far apart": """
for i in range(19):
    for j in range(k):
        if m[j, i] > 0:
            m[j, i] = m[j + 1, i] + 1
""",
    "a search": SERIAL + """
for i in range(n):
    if p[i] == 7:
        r[0] = i
        break
""",
    "a step that is not one": SERIAL + """
for i in range(n, 0, -1):
    if p[i] > 2:
        r[i] = i
""",
    "a step that nobody knows": SERIAL + """
for i in range(0, n, k):
    if p[i] > 2:
        r[i] = i
""",
    # --- loops that are written out
    "a loop of which nothing is left": SERIAL + """
for i in range(40000):
    for j in range(2):
        if i + j < 0:
            r[0] = i
""",
    "a short loop with a jump": """
for i in range(n):
    for j in range(3):
        if p[i] == j:
            continue
        r[i] += p[i + j]
""",
    "a short loop that counts for nobody": """
for i in range(n):
    t = p[i]
    for j in range(3):
        t = t * 3 + 1
    r[i] = t
""",
    "a long nest of short loops": """
for i in range(n):
    for a in range(7):
        for b in range(7):
            for c in range(7):
                r[i] += p[a + b * c] * (a + 2 * b + 3 * c)
""",
    # --- variables that tasks share
    "a variable that a task has gathered": """
t = 0
for i in range(n):
    t += p[i]
sv.loop_config(serialize=True)
for j in range(n):
    if p[j] > 0:
        r[j] = t
""",
    "a variable that a task has gathered, used otherwise": """
t = 0
for i in range(n):
    t += p[i]
r[399] = t
sv.loop_config(serialize=True)
for j in range(n):
    t = p[j]
    if t > 0:
        r[j] = t + 1
""",
    "a variable that a task gathers in two ways": """
t = 0
u = 0
for i in range(n):
    for j in range(3):
        t += p[i]
        u = max(u, p[i])
        u = max(u, q[i])
r[0] = t + u
""",
    # --- what one iteration does at a time
    "a function with many ways out": SERIAL + """
for i in range(n):
    r[i] = leaving(p[i], q[i])
""",
    "a power of integers": """
for i in range(n):
    for j in range(3):
        if p[i] > j:
            r[i] += q[i] ** (q[i + j] % 4)
""",
    "one element for all, the same value": """
for i in range(n):
    for j in range(3):
        if x[i] > 7 + j * 0.0625:
            o[5] = 1.0
""",
    "rows in lanes": """
for i in range(19):
    t = sv.f32(0)
    for j in range(19):
        if m[i, j] > 0:
            t = t * 0.5 + m[i, j]
    m[i, 19] = t
""",
    "the row before": SERIAL + """
for i in range(1, 19):
    for j in range(20):
        m[i, j] = min(m[i, j], m[i - 1, j] + 1) + m[2, j]
""",
    "many elements of others": SERIAL + f"""
for i in range(n):
    r[i] = ({" + ".join(f"r[i + {k}]" for k in range(66))}) & 63
""",
    "elements of others, farther on": SERIAL + """
for a in range(1):
    for i in range(n - 1, k - 1, -1):
        o[i] = max(o[i], o[i - k] + 1)
    for i in range(k, n):
        r[i] = (r[i] + r[i - k] * 3) & 63
""",
    # --- steps of a loop
    "a remainder of a multiple": """
for j in range(n):
    if 3 * j % 4 == 1:
        o[j] = x[j]
""",
    "a remainder by three": """
for j in range(n):
    if j % 3 == 1:
        o[j] = x[j]
""",
    "a remainder that memory takes part in": """
for j in range(n):
    t = p[j]
    if (j + t - t) % 2 == 1:
        o[j] = x[j]
""",
    # --- records
    "records behind a jump": """
for i in range(n // 2):
    if p[i] == 3:
        continue
    o[2 * i] = x[i] + 1
    o[2 * i + 1] = x[i] - 1
""",
    "records of different rows": """
for i in range(n // 2):
    if x[i] > 0:
        r[i] = 2
    o[2 * i] = x[i] + 1
    o[2 * i + k] = x[i] - 1
""",
    "records that iterations share": """
for i in range(n // 2):
    t = p[i]
    for j in range(20):
        if t > j:
            t = t * 3 // 4 + q[j]
    o[i] = t
    r[2 * i] += p[i]
    r[2 * i + k] += 1
    r[2 * i + k + 1] += 2
""",
    # --- adjacent elements that are not gathered at once
    "an adjacent element that is stored in between": """
for i in range(n // 2):
    j = i * 7 % 200 * 2
    t = o[j]
    o[j + 1] = t + x[j] - x[j + 1]
    o[j] = o[j + 1] * 2
""",
    "adjacent elements under different conditions": """
for i in range(n):
    j = q[i] % 19
    if p[i] > 0:
        r[i] = p[j] + p[j + 2] - p[j + 3]
    else:
        r[i] = p[j + 1]
    if j == 5:
        continue
    o[i] = m[j, j] - m[j, j + 1]
""",
    # --- functions that are inlined for lanes
    "a function with powers of integers": """
for i in range(n):
    r[i] = powers(p[i], q[i] % 5)
""",
    "functions under a condition": """
for i in range(n):
    if p[i] > 2:
        r[i] = powers(p[i], q[i] % 5)
    else:
        r[i] = looping(p[i], 2)
""",
    "long functions": f"""
for i in range(n):
    r[i] = {" + ".join(f"long_chain(p[i + {k}], q[i])" for k in range(24))}
""",
    "a function of what a task has gathered": """
t = 0
for i in range(n):
    t += p[i]
sv.loop_config(serialize=True)
for j in range(n):
    r[j] = t + looping(p[j], 2)
""",
    "odd and even elements": SERIAL + """
for i in range(n // 2):
    o[2 * i] = o[2 * i + 1] + x[i] + o[2 * i]
""",
}  # fmt: skip


def text(name: str) -> str:
    body = PROGRAMS[name].strip("\n")
    funcs = "".join(func for called, func in FUNCS.items() if called in body)
    return HEAD.format(funcs=funcs) + indent(body, "    ") + "\n"


def arguments(seed: int, n: int = 300) -> dict[str, Any]:
    """Quarters, so that short sums are exact in any order."""
    random = np.random.default_rng(seed)
    return {
        "x": (random.integers(-30, 30, SIZE) / 4).astype(np.float32),
        "y": (random.integers(-30, 30, SIZE) / 4).astype(np.float32),
        "p": random.integers(-9, 10, SIZE, dtype=np.int32),
        "q": random.integers(0, 20, SIZE, dtype=np.int32),
        "o": (random.integers(-30, 30, SIZE) / 4).astype(np.float32),
        "r": random.integers(-9, 10, SIZE, dtype=np.int32),
        "m": (random.integers(-8, 8, (SIDE, SIDE)) / 4).astype(np.float32),
        "n": n,
        "k": 9,
    }


def of_python(name: str, given: dict[str, Any]) -> dict[str, np.ndarray]:
    """What Python makes of a program."""
    plain = {each: Plain(value) if isinstance(value, np.ndarray) else value for each, value in given.items()}
    python_function(text(name), {"sv": InPython})(**plain)
    return {each: value.array() for each, value in plain.items() if isinstance(value, Plain)}
