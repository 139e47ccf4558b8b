"""The page about fields: its examples run, one after the other."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "fields.md"


def test_the_examples_of_the_page(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 6
    path = tmp_path / "page.py"
    path.write_text("\n\n".join(blocks))
    runpy.run_path(str(path))
