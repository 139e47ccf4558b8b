"""A misspelt word is an error with the one that was probably meant: options, variables, keywords, stages, layouts."""

import re
from pathlib import Path

import numpy as np
import pytest

import samovar as sv
from samovar.language import KEYWORDS_ELSEWHERE, SWITCHES, complaints
from samovar.runtime import configuration


@sv.kernel
def doubled(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] *= 2


REFUSED = [
    (lambda: sv.init(without="vecotrs"), "vectors"),
    (lambda: sv.init(without="narrow vecotrs"), "vectors"),
    (lambda: sv.init(without=" ".join(SWITCHES) + " stac"), "stack"),
    (lambda: sv.init(debg=True), "debug"),
    (lambda: sv.init(log_level="inof"), "info"),
    (lambda: sv.init(arch="cpuu"), "cpu"),
    (lambda: sv.init(default_fp="f46"), "f64"),
    (lambda: sv.set_logging_level("wran"), "warn"),
    (lambda: sv.is_logging_effective("eror"), "error"),
    (lambda: sv.compile_count("lvm"), "llvm"),
    (lambda: doubled.inspect("lvm", np.zeros(2, np.float32)), "llvm"),
    (lambda: sv.kernel(fastcahe=True), "fastcache"),
    (lambda: sv.func(is_real_func=True), "is_real_function"),
    (lambda: sv.data_oriented(stabel_members=True), "stable_members"),
    (lambda: sv.field(sv.f32, 4, ofset=1), "offset"),
    (lambda: sv.ndarray(sv.f32, 4, need_grad=True), "needs_grad"),
    (lambda: sv.field(sv.f32, 4, layout="sv.Layout.SO"), "sv.Layout.SOA"),
    (lambda: sv.types.ndarray(boundary="clmp"), "clamp"),
    (lambda: sv.types.vector(3, dtpe=sv.f32), "dtype"),
    (lambda: sv.algorithms.reduce(np.zeros(3, np.float32), "mull"), "mul"),
    (lambda: sv.linalg.SparseSolver(solver_type="LTT"), "LLT"),
    (lambda: sv.linalg.SparseSolver(ordering="COLMAD"), "COLAMD"),
    (lambda: sv.linalg.SparseMatrixBuilder(2, storage_format="row_mayor"), "row_major"),
    (lambda: sv.tools.PLYWriter(3, face_type="quaad"), "quad"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_a_misspelt_word_is_refused_with_the_one_that_was_meant(case):
    call, meant = REFUSED[case]
    with pytest.raises(Exception, match=re.escape(f"did you mean {meant!r}?")) as caught:
        call()
    assert isinstance(caught.value, (sv.SamovarError, ValueError))


@pytest.mark.parametrize("option", [name for name in configuration.CHOICES if name not in ("opt_level", "arch")])
def test_an_option_with_a_set_of_words_says_which_there_are(option, monkeypatch):
    with pytest.raises(sv.SamovarError, match=re.escape(f"sv.init({option}=…): 'nothing' is not one of ")):
        sv.init(**{option: "nothing"})
    monkeypatch.setenv(f"SAMOVAR_{option.upper()}", "nothing")
    with pytest.raises(sv.SamovarError, match=f"SAMOVAR_{option.upper()}: 'nothing' is not one of "):
        sv.reset()


def test_a_misspelt_switch_in_the_environment_is_refused(monkeypatch):
    monkeypatch.setenv("SAMOVAR_WITHOUT", "vecotrs")
    with pytest.raises(sv.SamovarError, match=r"SAMOVAR_WITHOUT: 'vecotrs' is not one of .*: did you mean 'vectors'"):
        sv.reset()


def test_a_variable_that_is_on_or_off_is_told_what_it_counts_as():
    assert complaints({"SAMOVAR_GDB": "off"}) == ["SAMOVAR_GDB: 'off' is not one of '0', '1'; it counts as 1"]
    assert complaints({"SAMOVAR_GDB": "1", "SAMOVAR_VERIFY_IR": "0", "SAMOVAR_PERF_MAP": ""}) == []


def test_the_switches_are_those_that_the_sources_ask_for():
    texts = [path.read_text() for path in Path(sv.__file__).parent.rglob("*.py")]
    asked = {
        word for text in texts for word in re.findall(r'"(\w+)" (?:not )?in (?:[\w.]+\.)?without\b', text)
    }
    assert asked
    assert asked <= set(SWITCHES)
    documented = sv.init.__doc__.partition("- `without`")[2].partition("Options of")[0]
    assert set(re.findall(r'"(\w+)"', documented)) == set(SWITCHES)


def test_keywords_of_others_are_answered_with_what_is_done_here():
    for keyword, words in {
        "parallel": "a loop at the top of a kernel is parallel",
        "fastmath": r"sv\.init\(fast_math=True\)",
        "cache": "compiled kernels are kept",
    }.items():
        with pytest.raises(sv.SamovarTypeError, match=f"sv.kernel has no parameter '{keyword}': .*{words}") as caught:
            sv.kernel(**{keyword: True})
        assert "its parameters are fastcache, graph, checkpoints" in str(caught.value)
    assert all(hint for hint in KEYWORDS_ELSEWHERE.values())


def test_other_errors_of_a_call_stay_as_they_are():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        sv.field(shape=3)
    with pytest.raises(TypeError, match="multiple values for argument 'dtype'"):
        sv.field(sv.f32, dtype=sv.f32)


def in_a_kernel(line):
    namespace = {"sv": sv, "__name__": __name__}
    text = f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.f32, 1]):\n    {line}\n    for i in a:\n        a[i] = 1\n"
    import linecache

    file = f"<words {hash(line)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), namespace)
    return namespace["k"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("sv.loop_config(serialise=True)", "has no parameter `serialise`: did you mean 'serialize'?"),
        ("sv.loop_config(serialize=3)", "takes True or False as `serialize`"),
        ("sv.loop_config(block_dmi=3)", "did you mean 'block_dim'?"),
        ("x = sv.select(cnd=True, x1=1, x2=2)", "`sv.select` has no parameter `cnd`: did you mean 'cond'?"),
        ("x = sv.select(True, cond=True, x1=1)", "`sv.select` is given `cond` twice"),
    ],
)
def test_keywords_in_kernels_are_told_the_same_way(line, says):
    with pytest.raises(sv.SamovarError, match=re.escape(says)):
        in_a_kernel(line)(np.zeros(2, np.float32))
