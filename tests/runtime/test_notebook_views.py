"""What notebooks show of arrays, fields, kernels and profiles, and how messages name cells."""

import re
from html import unescape

import pytest

import samovar as sv


def cells_of(html):
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]


def test_an_array_is_a_table_of_its_elements():
    a = sv.array([[0.1, 2.0], [3.0, 4.0]], sv.f32)
    assert cells_of(a._repr_html_()) == [["0.1", "2"], ["3", "4"]]
    assert "<code>ndarray, f32, shape (2, 2)</code>" in a._repr_html_()


@pytest.mark.parametrize("order", ["ij", "ji"])
def test_a_field_is_shown_in_the_order_of_its_indices(order):
    f = sv.field(sv.i32, (2, 3), order=order, offset=(5, 5))
    f[5, 6] = 7
    assert cells_of(f._repr_html_()) == [["0", "7", "0"], ["0", "0", "0"]]
    assert "field, i32" in f._repr_html_()


def test_vectors_are_rows():
    f = sv.Vector.field(2, sv.f64, 3)
    f[1] = [1.5, -1]
    assert cells_of(f._repr_html_()) == [["0", "0"], ["1.5", "-1"], ["0", "0"]]


def test_numbers_of_no_dimension_and_of_none():
    assert cells_of(sv.field(sv.u1, ())._repr_html_()) == [["False"]]
    assert cells_of(sv.ndarray(sv.f16, 0)._repr_html_()) == [[]]


def test_long_dimensions_are_cut_and_many_are_shown_as_text():
    long = cells_of(sv.arange(1000)._repr_html_())
    assert long == [["0", "1", "2", "3", "4", "…", "995", "996", "997", "998", "999"]]
    large = cells_of(sv.zeros((1000, 2000))._repr_html_())
    assert [len(row) for row in large] == [11] * 11
    assert set(large[5]) == {"…"}
    deep = sv.zeros((2, 2, 2))
    assert unescape(deep._repr_html_()) == f"<pre>{deep!r}</pre>"


def test_an_array_of_structs_has_a_table_for_each_member():
    rays = sv.types.struct(origin=sv.math.vec2, length=sv.f32).field(shape=2)
    rays[1].length = 3
    html = rays._repr_html_()
    assert re.findall("<b>(.*?)</b>", html) == ["origin", "length"]
    assert cells_of(html)[-1] == ["0", "3"]


def test_a_kernel_shows_its_signature_and_what_was_compiled():
    @sv.kernel
    def scale(a: sv.types.NDArray[sv.f32, 1], factor: "sv.f32 if 1 < 2 else sv.f64" = 2):
        """Multiply <all> elements.

        More.
        """
        for i in a:
            a[i] *= factor

    html = scale._repr_html_()
    assert "Multiply &lt;all&gt; elements." in html
    assert "More." not in html
    assert "1 &lt; 2" in html
    assert f"{__file__}:" in html
    assert "none yet" in html
    scale(sv.zeros(3))
    assert ["specializations", "1"] in cells_of(scale._repr_html_())


def test_a_profile_is_a_table():
    @sv.kernel
    def nothing() -> sv.i32:
        return 1

    with sv.profiler() as profile:
        nothing()
    html = profile._repr_html_()
    assert html.startswith("<pre>")
    shown = unescape(re.sub("<[^>]*>", "", html))
    assert [line.split() for line in shown.splitlines()[:4]] == [line.split() for line in str(profile).splitlines()[:4]]


CELLS = [
    "import samovar as sv\nsv.init(debug=True)\na = sv.ndarray(sv.f32, 3)\n"
    "from samovar.compiler import progress\nprogress.PATIENCE = 1e9",  # a slow machine shows a line, too
    "@sv.func\ndef inner(a, i):\n    a[i] = 1\n@sv.kernel\ndef beyond(a: sv.types.NDArray[sv.f32, 1]):\n    inner(a, 9)",
    "beyond(a)",
    "@sv.kernel\ndef wrong():\n    x = undefined_name\nwrong()",
    "@sv.kernel\ndef generates():\n    yield 1\ngenerates()",
    "beyond",
    "a",
    "progress.PATIENCE = progress.INTERVAL = 0.0\n"
    "@sv.kernel\ndef waits(a: sv.types.NDArray[sv.f32, 1]):\n    for i in a:\n        a[i] = 1\n"
    "shown = []\nshow = progress.NotebookLine.show\n"
    "progress.NotebookLine.show = lambda line, text: (shown.append(text), show(line, text))\nwaits(a)\nshown[0]",
]


def test_messages_and_views_in_a_notebook_name_cells(tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in CELLS])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
    *_, beyond, wrong, generates, kernel, array, progress = [cell.outputs for cell in book.cells]
    assert "--> Cell In[2], line 3, in inner" in beyond[0].evalue
    assert "called from beyond at Cell In[2], line 6" in beyond[0].evalue
    assert "--> Cell In[4], line 3, in wrong" in wrong[0].evalue
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(generates[0].traceback))
    assert re.search(r"Cell In\[5\], line 3\n +yield 1\n +\^", text)
    assert "ipykernel_" not in beyond[0].evalue + wrong[0].evalue + text
    assert "Cell In[2], line 4" in kernel[0].data["text/html"]
    assert "<table>" in array[0].data["text/html"]
    *lines, text = progress
    assert lines
    assert {line.data["text/plain"] for line in lines} == {""}, "the line is gone at the end"
    assert "compiling waits" in text.data["text/plain"]
