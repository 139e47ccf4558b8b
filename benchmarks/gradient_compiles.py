"""What it takes to compile reverses: a hundred kernels and their reverses, cold, and kernels of growing size.

Usage: python benchmarks/gradient_compiles.py [--statements 250,500,1000,2000] [--funcs 25,50,100]. The cache is an empty
folder. Times are those of the wall clock, because LLVM runs in another process.
"""

import argparse
import importlib.util
import os
import random
import tempfile
import time
from pathlib import Path

os.environ["SAMOVAR_OFFLINE_CACHE_FILE_PATH"] = tempfile.mkdtemp()

import samovar as sv

HEAD = "import samovar as sv\nx, y = (sv.field(sv.f32, 64, needs_grad=True) for _ in range(2))\n"
BODIES = (
    "y[i] = sv.sin(x[i]) * x[i] + {c}",
    "y[i] += x[i] * x[(i + {k}) % 64] * {c}",
    "s = x[i]\n        for j in range({k}):\n            s = s * 0.9 + sv.cos(s)\n        y[i] = s",
    "if x[i] > {c}:\n            y[i] = x[i] * x[i]\n        else:\n            y[i] = sv.exp(-x[i])",
    "v = sv.Vector([x[i], x[(i + 1) % 64], {c}])\n        y[i] = v.normalized().dot(v) * v.norm()",
)


def module(text, folder, name):
    file = Path(folder, f"{name}.py")
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def hundred():
    text = HEAD
    for k in range(101):
        text += f"@sv.kernel\ndef k{k}():\n    for i in x:\n        {BODIES[k % 5].format(c=0.1 + k / 100, k=k % 7 + 1)}\n"
    return text


def statements(count):
    numbers, lines = random.Random(1), []
    for s in range(count):
        if s % 10:
            one, other = (max(0, s - numbers.randrange(9)) for _ in range(2))
            lines.append(f"        v{s + 1} = sv.sin(v{one}) * v{other} + 0.1")
        else:
            lines.append(f"        v{s + 1} = x[(i + {s}) % 64] * v{s}")
    text = "\n".join(lines)
    return f"{HEAD}@sv.kernel\ndef k():\n    for i in x:\n        v0 = x[i]\n{text}\n        y[i] += v{count}\n"


def funcs(count):
    text = HEAD
    for s in range(count):
        text += f"@sv.func\ndef f{s}(a, b):\n    c = a * sv.sin(b) + {s}.5\n    if c > 0.3:\n        c = c * a\n"
        text += "    return c / (1.0 + b * b)\n"
    calls = "".join(f"        v = f{s}(v, x[(i + {s}) % 64])\n" for s in range(count))
    return f"{text}@sv.kernel\ndef k():\n    for i in x:\n        v = x[i]\n{calls}        y[i] = v\n"


def seconds(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--statements", default="250,500,1000,2000")
    parser.add_argument("--funcs", default="25,50,100")
    given = parser.parse_args()
    sv.init(default_fp=sv.f32, num_threads=1)
    with tempfile.TemporaryDirectory() as folder:
        made = module(hundred(), folder, "hundred")
        kernels = [getattr(made, f"k{k}") for k in range(101)]
        kernels[0]()
        kernels[0].grad()
        forward = seconds(lambda: [kernel() for kernel in kernels[1:]])
        reverse = seconds(lambda: [kernel.grad() for kernel in kernels[1:]])
        print(f"100 kernels: {forward:.2f} s; their reverses: {reverse:.2f} s, {reverse / forward:.2f} times as long")
        for name, write, counts in (("statements", statements, given.statements), ("funcs", funcs, given.funcs)):
            for count in map(int, counts.split(",")):
                made = module(write(count), folder, f"{name}{count}")
                forward, reverse = seconds(made.k), seconds(made.k.grad)
                each = 1e3 * reverse / count
                print(f"{count} {name}: {forward:.2f} s; reverse {reverse:.2f} s, {each:.1f} ms each", flush=True)


if __name__ == "__main__":
    main()
