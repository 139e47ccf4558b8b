"""A misspelled word is an error with the one that was probably meant: options, variables, keywords, stages, layouts."""

import re
import tokenize
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
def test_a_misspelled_word_is_refused_with_the_one_that_was_meant(case):
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


def test_a_misspelled_switch_in_the_environment_is_refused(monkeypatch):
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
        "parallel": "the outermost loop of a kernel is parallel",
        "fastmath": r"sv\.init\(fast_math=True\)",
        "cache": "compiled kernels are cached",
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
        ("x = sv.select(True, cond=True, x1=1)", "`sv.select` got multiple values for `cond`"),
    ],
)
def test_keywords_in_kernels_are_told_the_same_way(line, says):
    with pytest.raises(sv.SamovarError, match=re.escape(says)):
        in_a_kernel(line)(np.zeros(2, np.float32))


#: Words and phrases that readers stumbled over, and what to write instead.
HOME_MADE = {
    r"rooms?": "package",
    r"doors?|entrances?": "public interface",
    r"peers?": "Taichi and Quadrants, other libraries",
    r"bak(ed?|es|ing)": "compile-time constant, specialized on",
    r"(each|every|first|last|one|two|several|inner|outer|trailing|other|all|of|without|its|their) ax[ei]s": "dimension",
    r"entry by entry": "element-wise",
    r"(two|types?|operands?|iterations|accesses) (do not )?meet": "promote, conflict",
    r"detours?": "hook",
    r"salts?": "toolchain fingerprint",
    r"nearest relative": "most similar",
    r"yours alone": "private",
    r"each other's way": "data race",
    r"side by side": "in parallel, in SIMD lanes, adjacent",
    r"is left over": "the remainder",
    r"(is|are|was) (said|told (of|about|what)|warned of)": "is set, is described, raises a warning",
    r"for who|who(ever)? wants|somebody|nobody (knows|asks|sees|else)": "name the caller, unknown",
    r"(?<!here )is no (?!longer|more)\w+|is none (?!of|yet)\w+|none that|(is|are) not here": "is not a …, not supported",
    r"no value of its own|not available in kernels": "is not supported",
    r"not kept|kept kernels?|what was not used": "cached, evicted",
    r"(nothing|what) speaks? against": "assumed to be current",
    r"mistakes? of (Samovar|LLVM)": "a bug in",
    r"in front of (a|the|it)|in the place of|again and again|(in|out)side of": "before, instead of, repeatedly, inside",
    r"whole numbers?": "integer",
}
ROOT = Path(sv.__file__).parent


def prose(path):
    """The comments, docstrings and messages of a file, without code in backticks and doctests, by line."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
                for number, line in enumerate(token.string.splitlines(), token.start[0]):
                    if not line.lstrip().startswith((">>>", "...")):
                        yield number, re.sub(r"`[^`]*`|\{[^}]*\}", "", line)


@pytest.mark.parametrize("package", ["", *sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))])
def test_prose_uses_the_words_of_the_field(package):
    files = (ROOT / package).rglob("*.py") if package else ROOT.glob("*.py")
    lines = [(path, *line) for path in files for line in prose(path)]
    assert lines
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()!r}: write {better}"
        for path, number, line in lines
        for word, better in HOME_MADE.items()
        if re.search(rf"\b({word})\b", line)
    ]
    assert not found, "\n".join(found)
