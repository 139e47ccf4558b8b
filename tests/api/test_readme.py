"""The example of the README runs after the README's own installation, which brings no NumPy."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent.parent / "README.md"


def test_the_example_runs_without_numpy(tmp_path):
    example = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    script = tmp_path / "example.py"
    script.write_text("import sys\nsys.modules['numpy'] = None\n" + example)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "2.0\n"
