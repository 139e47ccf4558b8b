"""The page about compound arguments: its example computes what it should."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "compound.md"


def test_the_example_of_the_page(tmp_path, monkeypatch):
    text = PAGE.read_text()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.py"
    path.write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0])
    spec = spec_from_file_location("page", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    solver = module.Solver(4)
    solver.step(0.01)
    module.free_motion(solver.dofs, 0.01)
    solver.log.close()
    x, v = 0.0, 0.0
    for _ in range(4):
        v += (-9.81 - x) * 0.01
        x += v * 0.01
    v -= v * 0.02 * 0.01
    x += v * 0.01
    assert abs(solver.dofs.x[3] - x) < 1e-6
