"""A misspelled word is an error with the one that was probably meant: options, variables, keywords, stages, layouts."""

import re
import sys
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
        "signature": "the arguments decide the types",
        "fast_math": r"sv\.init\(fast_math=False\)",
        "num_threads": r"sv\.init\(num_threads=n\)",
    }.items():
        with pytest.raises(sv.SamovarTypeError, match=f"sv.kernel does not accept {keyword}=True: .*{words}"):
            sv.kernel(**{keyword: True})
    with pytest.raises(sv.SamovarTypeError, match="no parameter 'grph': did you mean 'graph'") as caught:
        sv.kernel(grph=True)
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
    r"(is|are) left over": "the remainder",
    r"late terms?|reading ahead|foresight": "reassociation, speculative loads, estimate",
    r"(is|are|was|were) (said|told (of|about|what|to)|warned of)": "is set, is described, raises a warning",
    r"for who|[Ww]ho \w+s (a|the|it|again)|who(ever)? wants": "name the caller",
    r"somebody|nobody (knows|asks|sees|else)": "name the caller, unknown",
    r"(?<!here )is no (?!longer|more|rounding)\w+|is none (?!of|yet)\w+|none that": "is not a …",
    r"(is|are) not here": "is not supported",
    r"no value of its own|not available in kernels": "is not supported",
    r"not kept|kept kernels?|what was not used": "cached, evicted",
    r"(nothing|what) speaks? against": "assumed to be current",
    r"mistakes? of (Samovar|LLVM)": "a bug in",
    r"in front of (a|the|it)|in the place of|again and again|(in|out)side of": "before, instead of, repeatedly, inside",
    r"the other way round": "the reverse, the opposite",
    r"whole numbers?": "integer",
    r"\w*(?<!pr)(?<!adv)(?<!comprom)(?<!superv)(?<!rev)(?<!dev)(?<!surpr)(?<!exerc)(?<!w)(?<!no)(?<!prec)(?<!conc)"
    r"(al|el|il|ar|or|im|an|er|on|in|ep|om)is(e|ed|es|ing|ations?|er)": "US spelling: -ize",
    r"\w*(our(s|ed|ing|able)?)": "US spelling: -or",
    r"(cent|fib|met|lit)res?|analys(ed?|ing)|catalogues?|grey|artefacts?|licence|towards|afterwards|whilst": "US spelling",
    r"(cancel|label|model|travel|signal|level)l(ed|ing)": "US spelling: one l",
}
#: Ordinary words that look like British ones.
NOT_BRITISH = set(
    "our ours your yours four hour hours pour tour contour contours detour source course "
    "otherwise likewise raise raised raises raising rise rises arise arises promise promised promises premise precise "
    "noise noises poise exercise surprise surprised denoise comprise comprised enterprise expertise franchise paradise "
    "disguise turquoise treatise demise concise revise revised advise advised supervise wise noisy".split()
)
ROOT = Path(sv.__file__).parents[2]
#: Where prose is: code and its comments, pages, and what is around them.
PLACES = [
    *(str(path.parent.relative_to(ROOT)) for path in ROOT.glob("src/samovar/*/__init__.py")),
    *("src/samovar/_native", "docs", "examples", "benchmarks", "tools", "release", ".github"),
]
#: Files that list the words.
LISTS_OF_WORDS = ("docs/glossary.md",)


def comments_and_strings(path):
    """The comments, docstrings and messages of a Python file, by line."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
                for number, line in enumerate(token.string.splitlines(), token.start[0]):
                    if not line.lstrip().startswith((">>>", "...")):
                        yield number, line


def prose(path):
    """The prose of a file by line, without code in backticks and placeholders."""
    text = path.read_text()
    if path.suffix in (".py", ".pyi"):
        lines = comments_and_strings(path)
    elif path.suffix in (".c", ".h"):
        # What is neither a comment nor a string becomes blank.
        token = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|[^\n]', re.DOTALL)
        kept = token.sub(lambda found: found[0] if len(found[0]) > 1 else " ", text)
        lines = ((number, line) for number, line in enumerate(kept.splitlines(), 1) if ">>>" not in line)
    else:
        text = re.sub(r"^( *```).*?^ *```", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
        lines = enumerate(re.sub(r"`[^`]*`", "``", text).splitlines(), 1)
    for number, line in lines:
        yield number, re.sub(r"`[^`]*`|\{[^}]*\}|--[\w-]+|[\w/.]+\.(md|py|html)\b", "", line)


def home_made(path):
    """The words in a file that `HOME_MADE` lists, one sentence each."""
    for number, line in prose(path):
        for word, better in HOME_MADE.items():
            for found in re.finditer(rf"\b({word})\b", line):
                if found[0].lower() not in NOT_BRITISH:
                    yield f"{path.relative_to(ROOT)}:{number}: {found[0]!r} in {line.strip()!r}: write {better}"


def files_in(place):
    found = [path for path in place.rglob("*") if path.suffix in (".py", ".pyi", ".c", ".h", ".md")]
    return sorted(path for path in found if str(path.relative_to(ROOT)) not in LISTS_OF_WORDS)


@pytest.mark.parametrize("place", sorted(PLACES))
def test_prose_uses_the_words_of_the_field(place):
    files = files_in(ROOT / place)
    assert files
    found = [each for path in files for each in home_made(path)]
    assert not found, "\n".join(found)


def test_prose_at_the_root_uses_the_words_of_the_field():
    files = [*ROOT.glob("*.md"), *(ROOT / "src/samovar").glob("*.py*")]
    found = [each for path in files for each in home_made(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("page.md", "A room of the package.\n", "room"),
        ("page.md", "The optimiser decides.\n", "optimiser"),
        ("page.md", "Samovar's behaviour is exact.\n", "behaviour"),
        ("code.py", 'def f():\n    """Two types meet here."""\n', "types meet"),
        ("code.py", "x = 1  # what is left: nobody knows\n", "nobody knows"),
        ("code.py", "raise ValueError('there is none that fits')\n", "is none that"),
        ("code.c", "/* Runs side by side. */\nint side;\n", "side by side"),
        ("code.c", 'fail("the peer of %s");\n', "peer"),
    ],
)
def test_a_home_made_word_is_found(tmp_path, monkeypatch, name, text, word):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / name).write_text(text)
    assert [line for line in home_made(tmp_path / name) if repr(word) in line]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "The `room` of `a[i]`.\n```python\nroom = 1\n```\nFour hours of precise, otherwise raised noise.\n"),
        ("code.py", "room = peer(salt)\n"),
        ("code.c", "int room = peer;\n"),
    ],
)
def test_code_is_not_prose(tmp_path, monkeypatch, name, text):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / name).write_text(text)
    assert list(home_made(tmp_path / name)) == []
