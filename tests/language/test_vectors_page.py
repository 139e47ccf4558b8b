"""The page about vectors and matrices: its examples run, one after the other, and hold what they assert."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "vectors.md"


def test_the_examples_of_the_page(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) >= 7
    path = tmp_path / "vectors_page.py"
    path.write_text("\n\n".join(blocks))
    spec = spec_from_file_location("vectors_page", path)
    spec.loader.exec_module(module_from_spec(spec))
