"""Replay is written twice: in Python, which is the reference, and in C for the questions that a warm start is full of. The
tables of both come from the lens; and on random objects and random questions, both come to the same."""

import contextlib
import sys
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_worlds import (
    ITEMS,
    OPTION_PATHS,
    OVERLAPS,
    PATHS,
    Answering,
    Model,
    Renamed,
    State,
    Unhashable,
    helper,
    make_kernel,
    specimens,
)

import samovar as sv
from samovar import _native
from samovar.language.annotations import signature_of
from samovar.language.options import DEFAULTS, Options
from samovar.lens import Kind, question_tables, same_answer
from samovar.lens.path import STEPS, Path
from samovar.lens.replaying import Replay
from samovar.lens.serialized import TAGS, PathTable

TABLES = {"questions": question_tables.QUESTIONS, "steps": STEPS, "kinds": Kind.members, "marks": TAGS}
#: Those that need more than a path; about texts, see `test_two_readings_of_lines`.
ASKED = sorted(question_tables.QUESTIONS - {"source", "option", "disjoint", *question_tables.RELATIONS})
KERNEL = make_kernel()
SIGNATURE = signature_of(KERNEL, sys._getframe(), {})
OPTIONS = [Options(), Options(fast_math=False), Options(debug=True), Options(default_fp=sv.f64)]
SPECIMENS = st.integers(0, len(specimens()) - 1)


def test_native_code_knows_only_words_of_the_lens():
    words = _native.replay_words()
    assert len(words) == len(set(words)) > 20
    assert [(table, word) for table, word in words if word not in TABLES[table]] == []


@pytest.mark.parametrize("table", TABLES)
def test_a_lens_that_lacks_a_word_is_refused(table):
    lacking = next(word for each, word in _native.replay_words() if each == table)
    tables = {**TABLES, table: [word for word in TABLES[table] if word != lacking]}
    with pytest.raises(RuntimeError, match=f"the lens has no '{lacking}' among its {table}"):
        _native.check_replay_words(tables)


def test_words_of_traces_are_short_in_files():
    """The table of the codec has every word that a trace or a guard program is made of."""
    words = {*_native.codec_words()}
    options = {name for name in DEFAULTS if name not in NOT_READ_BY_COMPILES}
    guards = {*_native.guard_formats(), *_native.guard_parts()}
    needed = {*question_tables.QUESTIONS, *STEPS, *Kind.members, *TAGS, *options, *guards}
    assert needed - words == set()


#: Options that say where and how, and not what is compiled.
NOT_READ_BY_COMPILES = (
    "arch", "num_threads", "log_level", "print_ir", "dump_ir", "offline_cache", "offline_cache_file_path",
    "offline_cache_max_size", "src_ll_cache", "print_non_pure", "num_compile_threads", "field_margin",
    "cache_program", "cache_remote", "cache_remote_timeout", "cache_signing_key", "cache_trust", "target",
)  # fmt: skip


class Asking:
    """One kernel, its arguments, and questions with the answers that are expected."""

    def __init__(self, arguments, options):
        self.arguments = arguments
        self.options = options
        self.table = PathTable([])
        self.steps = []

    def replay(self):
        return Replay(self.table, KERNEL, self.arguments, SIGNATURE, self.options)

    def add(self, path, question, answer):
        self.steps.append((self.table.number(path), question, self.table.encoded(answer)))

    def add_path(self, path):
        """A path that is only an answer has a row as well."""
        self.table.encoded(path)

    def true_answer(self, path, question):
        number = self.table.number(path)
        look = self.replay()
        look.agrees(number, question, None)
        return look.last


def draw_step(draw, asking, truly):
    """Add a question, answered as it is now or in another way."""
    where = draw(st.sampled_from(["object", "object", "object", "option", "overlap", "relation"]))
    if where == "option":
        path, other = draw(OPTION_PATHS), draw(st.sampled_from([True, False, sv.f32, 0]))
        asking.add(path, "option", asking.true_answer(path, "option") if truly else other)
    elif where == "overlap":
        path = draw(OVERLAPS)
        asking.add(path, "disjoint", asking.true_answer(path, "disjoint") if truly else draw(st.booleans()))
    elif where == "relation":
        path, other = draw(PATHS), draw(PATHS)
        asking.add_path(other)
        asking.add(path, draw(st.sampled_from(question_tables.RELATIONS)), path if truly and draw(st.booleans()) else other)
    else:
        path, question = draw(PATHS), draw(st.sampled_from(ASKED))
        if not truly:
            # What the same question is answered about another object.
            other = Asking({"x": specimens()[draw(SPECIMENS)], "y": None}, asking.options)
            answer = other.true_answer(draw(PATHS), question)
        else:
            answer = asking.true_answer(path, question)
        asking.add(path, question, answer)


@st.composite
def askings(draw):
    made = specimens()
    arguments = {name: made[draw(SPECIMENS)] for name in draw(st.sampled_from(["xyz", "xy", "x"]))}
    asking = Asking(arguments, draw(st.sampled_from(OPTIONS)))
    truly = draw(st.sampled_from([True, True, False]))
    for _ in range(draw(st.integers(1, 8))):
        draw_step(draw, asking, truly or draw(st.booleans()))
    return asking


def compare(asking):
    native, python = asking.replay(), asking.replay()
    agreed = native.agreeing(asking.steps)
    assert agreed == python.agreeing(asking.steps, native=False)
    if agreed < len(asking.steps):
        assert same_answer(native.last, python.last) or native.last is python.last
    for number in range(len(asking.table)):
        with contextlib.suppress(Exception):  # an attribute that raises
            one, other = native.object(number), python.object(number)
            assert one is other or type(one) is type(other)
    return agreed


@settings(max_examples=200)
@given(askings())
def test_both_come_to_the_same(asking):
    compare(asking)
    compare(asking)  # native code has remembered answers about classes


#: What can be done to a class between two looks: what to set, and on what.
CHANGES = [
    (Model, "_sv_template_primitives", False),
    (Model, "table", 5),
    (Model, "method", None),
    (Model, "n", property(lambda self: 4)),
    (State, "__dataclass_fields__", {}),
    (State, "_sv_template_primitives", True),
    (Answering, "__getattr__", lambda self, name: 8),
    (Renamed, "__qualname__", "Other"),
    (Renamed, "__module__", "elsewhere"),
    (Renamed, "__name__", "Another"),
    (Unhashable, "_samovar_annotation", 1),
]


@contextlib.contextmanager
def changed(cls, name, value):
    had = name in vars(cls) or name in vars(type)
    before = vars(cls).get(name, getattr(cls, name, None))
    type.__setattr__(cls, name, value)
    try:
        yield
    finally:
        if had:
            type.__setattr__(cls, name, before)
        else:
            type.__delattr__(cls, name)


@settings(max_examples=100)
@given(askings(), st.sampled_from(CHANGES))
def test_both_see_that_a_class_has_changed(asking, change):
    compare(asking)
    with changed(*change):
        compare(asking)
    compare(asking)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change[0].__name__}.{change[1]}")
@pytest.mark.parametrize("question", ["kind", "class", "bases"])
def test_what_is_remembered_of_a_class_is_forgotten_when_it_changes(question, change):
    instance = next(each for each in specimens() if type(each) is change[0])
    asking = Asking({"x": instance, "y": None}, Options())
    path = Path(None, "parameter", "x")
    asking.add(path, question, asking.true_answer(path, question))
    assert compare(asking) == compare(asking) == 1
    with changed(*change):
        compare(asking)
    assert compare(asking) == 1


@pytest.mark.parametrize("question", ASKED)
def test_every_question_about_every_kind(question):
    x = Path(None, "parameter", "x")
    paths = [x, Path(x, "function"), *(Path(x, "attribute", name) for name in ("n", "a", "method", "missing"))]
    paths += [Path(x, "item", key) for key in ITEMS]
    for value in specimens():
        asking = Asking({"x": value, "y": None}, Options())
        for path in paths:
            asking.steps.clear()
            answer = asking.true_answer(path, question)
            asking.add(path, question, answer)
            assert compare(asking) == 1 or answer is None


@pytest.mark.parametrize("question", ["kind", "class", "bases"])
def test_another_answer_than_the_remembered_one(question):
    x, y = Path(None, "parameter", "x"), Path(None, "parameter", "y")
    for value in specimens():
        asking = Asking({"x": value, "y": Model()}, Options())
        expected = asking.true_answer(y, question)
        asking.add(y, question, expected)
        asking.add(x, question, expected)
        assert compare(asking) == (2 if same_answer(asking.true_answer(x, question), expected) else 1)
        asking.steps.reverse()
        compare(asking)
        asking.steps[:] = [(asking.table.number(x), question, asking.table.encoded(asking.true_answer(x, question)))]
        compare(asking)
        for answer in ("another", *Kind.members.values()):
            asking.steps.clear()
            asking.add(x, question, answer)
            compare(asking)


def test_the_kernel_itself():
    asking = Asking({"x": 1, "y": 2}, Options())
    kernel = Path(None, "kernel", "kernel")
    func = Path(Path(kernel, "global", "helper"), "function")
    for path in (kernel, func):
        for question in ("function", "signature"):
            asking.add(path, question, asking.true_answer(path, question))
    asking.add(func, "namespace", kernel)
    asking.add(func, "same", func)
    asking.add(Path(kernel, "cell", "captured"), "same cell", Path(kernel, "cell", "captured"))
    for name in ("CONSTANT", "min", "missing"):
        for step in ("global", "builtin", "undefined"):
            path = Path(kernel, step, name)
            asking.add(path, "kind", asking.true_answer(path, "kind"))
    assert compare(asking) == compare(asking) == len(asking.steps)


@pytest.mark.parametrize("question", question_tables.RELATIONS)
def test_every_pair_of_functions(question):
    kernel, x, y = Path(None, "kernel", "kernel"), Path(None, "parameter", "x"), Path(None, "parameter", "y")
    names = ("helper", "helper_with_default", "plain", "make_kernel", "min", "missing")
    paths = [kernel, x, y, *(Path(kernel, "global", name) for name in names)]
    paths += [Path(path, "function") for path in paths] + [Path(kernel, "cell", "captured"), Path(x, "cell", "captured")]
    other_module = types.FunctionType(KERNEL.__code__, {}, closure=KERNEL.__closure__)
    for one in paths:
        for other in paths:
            asking = Asking({"x": KERNEL, "y": other_module}, Options())
            asking.add_path(other)
            asking.add(one, question, other)
            compare(asking)


def test_code_is_another_one_where_lines_count():
    kernel = Path(None, "kernel", "kernel")
    for first, second in ((OPTIONS[0], Options(debug=True)), (Options(debug=True), OPTIONS[0])):
        asking = Asking({"x": 1, "y": 2}, second)
        asking.add(kernel, "function", Asking(asking.arguments, first).true_answer(kernel, "function"))
        assert compare(asking) == 0


@pytest.mark.parametrize("kind", ["__defaults__", "__kwdefaults__"])
def test_a_default_that_is_added_is_seen_by_both(kind):
    asking = Asking({"x": 1, "y": 2}, Options())
    path = Path(Path(Path(None, "kernel", "kernel"), "global", "helper"), "function")
    asking.add(path, "signature", asking.true_answer(path, "signature"))
    assert compare(asking) == compare(asking) == 1
    setattr(helper.__wrapped__, kind, (1,) if kind == "__defaults__" else {"x": 1})
    try:
        assert compare(asking) == 0
    finally:
        setattr(helper.__wrapped__, kind, None)
    assert compare(asking) == 1


@pytest.mark.parametrize("question", question_tables.RELATIONS)
def test_a_path_that_raises_now_is_related_to_nothing(question):
    """The func was a member; now there is a property, which cannot be read at the moment."""
    asking = Asking({"x": Model(), "y": None}, Options())
    method, raising = (Path(Path(None, "parameter", "x"), "attribute", name) for name in ("method", "raising"))
    asking.add_path(Path(raising, "function"))
    asking.add(Path(method, "function"), question, Path(raising, "function"))
    asking.add(Path(raising, "cell", "n"), question, Path(method, "cell", "n"))
    assert compare(asking) == 0
    del asking.steps[0]
    assert compare(asking) == 0
