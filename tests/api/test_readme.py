"""The example of the README runs after the README's own installation, which brings no NumPy; its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent.parent / "README.md"
PYPROJECT = README.with_name("pyproject.toml")


def test_the_example_runs_without_numpy(tmp_path):
    example = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    script = tmp_path / "example.py"
    script.write_text("import sys\nsys.modules['numpy'] = None\n" + example)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "2.0\n"


@pytest.mark.parametrize("site", ["", "https://example.org/samovar"])
def test_links_of_the_description_lead_to_the_site_that_is_declared(tmp_path, site):
    for name in ("README.md", "setup.py"):
        (tmp_path / name).write_text((README.parent / name).read_text())
    (tmp_path / "src").symlink_to(README.parent / "src")
    urls = f'[project.urls]\nDocumentation = "{site}/"\n\n' if site else ""
    declared = re.sub(r"\[project\.urls\][^\[]*", "", PYPROJECT.read_text())
    (tmp_path / "pyproject.toml").write_text(declared.replace("[tool.setuptools]", urls + "[tool.setuptools]", 1))
    asked = [sys.executable, "setup.py", "--quiet", "--long-description"]
    text = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    links = re.findall(r"\]\(([^)]+)\)", text)
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert all(picture.startswith(f"{site}/images/") for picture in pictures)
    assert bool(pictures) == bool(site)
    if not site:
        assert not [link for link in links if not link.startswith(("https://", "#"))]
        return
    pages = {link.removeprefix(site + "/").partition("#")[0] for link in links if link.startswith(site)}
    assert {"getting-started.html", "moving/from-taichi.html", "adr/index.html"} <= pages
    docs = README.parent / "docs"
    assert pages <= {str(path.relative_to(docs).with_suffix(".html")) for path in docs.rglob("*.md")}
