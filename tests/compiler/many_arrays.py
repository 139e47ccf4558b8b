"""Programs with functions of many arrays, made by program: long bodies behind conditions, called per element."""

from __future__ import annotations


def program(arrays: int, blocks: int, *, local: bool = False, statements: int = 3) -> str:
    """A kernel `run(state, kinds, out)` that calls a long func for each element; `local`: it has memory of its own too."""
    names = [f"a{number}" for number in range(arrays)]
    lines = ["import dataclasses", "import samovar as sv", "", "", "@dataclasses.dataclass(frozen=True)", "class State:"]
    lines += [f"    {name}: sv.types.NDArray[sv.f64, 2]" for name in names]
    lines += ["", "", "@sv.func", "def step(i, kind, state: State, out: sv.types.NDArray[sv.f64, 2]):"]
    lines += ["    p = 0.0 * out[i, 0]"]
    if local:
        lines += ["    seen = [0.0] * 16", "    for k in range(16):", "        seen[k] = out[i, 0] + k"]
    for block in range(blocks):
        lines.append(f"    {'if' if block == 0 else 'elif'} kind == {block}:")
        for number in range(statements):
            first, second = names[(3 * block + number) % arrays], names[(5 * block + 2 * number + 1) % arrays]
            lines.append(f"        q{number} = state.{first}[i, {number}] * state.{second}[{number}, 1] + p")
            lines.append(f"        p += q{number} * 0.5 + state.{second}[i, 0]")
            if local:
                lines.append(f"        p += seen[(kind + {number}) % 16]")
            lines.append(f"        out[i, {number}] += p * q{number}")
            lines.append(f"        state.{first}[i, 3] = p")
    lines += ["    out[i, 3] = p + kind", "", "", "@sv.kernel"]
    lines += ["def run(state: State, kinds: sv.types.NDArray[sv.i32, 1], out: sv.types.NDArray[sv.f64, 2]):"]
    lines += ["    for i in range(kinds.shape[0]):", "        step(i, kinds[i], state, out)"]
    return "\n".join(lines) + "\n"


def expected(source: str, count: int, state: dict, kinds, out) -> None:
    """The same in plain Python."""
    body = source[source.index("@sv.func") : source.index("@sv.kernel")].replace("@sv.func\n", "")
    body = body.replace("(i, kind, state: State, out: sv.types.NDArray[sv.f64, 2])", "(i, kind, state, out)")
    names: dict = {}
    exec(body, names)

    class Given:
        pass

    given = Given()
    vars(given).update(state)
    for i in range(count):
        names["step"](i, int(kinds[i]), given, out)
