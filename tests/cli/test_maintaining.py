"""`samovar cache verify`, `prune` and `clear`."""

import os

import pytest
from command_line import COLD, WARM, at_a_terminal, contents, data, entries, run_program, samovar_command, succeeds

from samovar._native import encode_plain
from samovar.cache.catalog import kernels
from samovar.cache.entry import sealed, unsealed, unwrapped, wrapped
from samovar.cache.eviction import prune
from samovar.cache.kernel_cache import Library
from samovar.cache.similar_kernels import comparisons
from samovar.cache.store import Store
from samovar.cache.verification import Verification
from samovar.lens.decision_tree import Tree
from samovar.runtime.loaded_kernel import loaded


def rewrite(path, change):
    """Change the data of an entry; the checksum is right afterwards."""
    kind, key = path.parent.name, path.name
    path.write_bytes(wrapped(kind, key, change(unwrapped(kind, key, path.read_bytes()))))


def opened(directory):
    return Library(Store(str(directory), 1 << 30, pytest.fail))


# --- verify


def test_a_sound_store_is_sound(store):
    found = data("cache", "verify", directory=store)
    assert found["checked"] == {"trees": 2, "kernels": 4, "code": 4, "names": 2}
    assert (found["findings"], found["damaged"]) == ([], 0)


@pytest.mark.parametrize("kind", ["trees", "kernels", "code", "names"])
def test_every_flipped_byte_and_every_truncation_is_found(store, kind):
    path = entries(store, kind)[0]
    whole = path.read_bytes()
    step = max(1, len(whole) // 100)
    for position in range(0, len(whole), step):
        damaged = bytearray(whole)
        damaged[position] ^= 0x10
        for content in (damaged, whole[:position]):
            path.write_bytes(content)
            found = Verification(opened(store), loaded)
            assert [(each.kind, each.key) for each in found.damaged] == [(kind, path.name)], position
    path.write_bytes(whole)
    assert not Verification(opened(store), loaded).findings


def changed_contents(segment, content):
    """The same questions, with another content at every leaf that has one."""
    steps, end = segment
    if isinstance(end, tuple):
        assert end[3] is not None
        return [steps, (*end[:3], content)]
    number, question, branches = end
    return [steps, [number, question, [[answer, changed_contents(below, content)] for answer, below in branches]]]


def with_field(data, name, value):
    """A stored kernel with another field of its artifact."""
    fields, seconds = unsealed(data[0], "({(S*)}F)")
    return (sealed((tuple({**dict(fields), name: value}.items()), seconds)), *data[1:])


def with_image(data, change):
    """An entry of the code cache with another image."""
    key, image = unsealed(data[1], "(SY)")
    return (data[0], sealed((key, change(image))))


DEEP_DAMAGE = {
    "an image that does not load": ("kernels", lambda data: with_field(data, "image", b"rubbish"), "does not load"),
    "no artifact": ("kernels", lambda data: (sealed(((), 0.5)), *data[1:]), "artifact cannot be decoded"),
    "an artifact that is not sealed": ("kernels", lambda data: (data[0][:-1], *data[1:]), "artifact cannot be decoded"),
    "an artifact of another key": ("kernels", lambda data: with_field(data, "key", "0" * 40), "belongs to the key 0000"),
    "an unknown dtype": (
        "kernels",
        lambda data: with_field(data, "sites", (("print", (), ("f99",), (), None),)),
        "artifact cannot be decoded",
    ),
    "no record": ("kernels", lambda data: (data[0], b"rubbish"), "record is malformed"),
    "a record of another form": ("kernels", lambda data: (data[0], encode_plain((1,) * 9)), "record is malformed"),
    "an image of the code cache that does not load": (
        "code",
        lambda data: with_image(data, lambda image: image[:-9]),
        "does not load",
    ),
    "no image of the code cache": ("code", lambda data: 3, "not that of an entry in code"),
    "an image that is not sealed": ("code", lambda data: (data[0], data[1][:-9]), "the checksum of a part is wrong"),
    "paths that are not there": ("trees", lambda data: (data[0][:1], data[1]), "not that of an entry in trees"),
    "a copy of something else": (
        "trees",
        lambda data: (data[0], changed_contents(data[1], encode_plain(("other", 1.0)))),
        "differs from that kernel",
    ),
    "a copy that cannot be decoded": (
        "trees",
        lambda data: (data[0], changed_contents(data[1], b"rubbish")),
        "differs from that kernel",
    ),
    "no tree": ("trees", lambda data: "oak", "not that of an entry in trees"),
    "another name": ("names", lambda data: ("other", data[1]), "belongs to the name other"),
    "no relatives": ("names", lambda data: (data[0], 5), "not that of an entry in names"),
}


@pytest.mark.parametrize("what", DEEP_DAMAGE)
def test_damage_behind_a_right_checksum_is_found_and_repaired(store, what):
    kind, change, words = DEEP_DAMAGE[what]
    path = entries(store, kind)[0]
    rewrite(path, change)
    verification = Verification(opened(store), loaded)
    assert [(each.kind, each.key) for each in verification.damaged] == [(kind, path.name)]
    assert words in verification.damaged[0].problem
    library = opened(store)
    comparisons(library, kernels(library))
    prune(library, other_versions=True)
    assert path.exists()
    assert verification.repair() == []
    assert not path.exists()
    assert not Verification(opened(store), loaded).findings


def test_a_tree_that_leads_to_the_artifact_of_other_answers_is_found(store):
    """The worst that could happen: code that is right for something else."""
    library = opened(store)
    path = next(each for each in entries(store, "trees") if len(list(library.tree(each.name).leaves())) == 3)
    (_, one), (_, two), _ = library.tree(path.name).leaves()

    def exchanged(data):
        text = repr(data)
        for old, new in ((one[0], "x"), (two[0], one[0]), ("x", two[0])):
            text = text.replace(f"'{old}'", f"'{new}'")
        return eval(text, {"inf": float("inf"), "nan": float("nan")})

    rewrite(path, exchanged)
    found = Verification(opened(store), loaded).damaged
    assert [each.key for each in found] == [path.name]
    assert "other answers" in found[0].problem


def test_a_leaf_with_fewer_paths_than_the_guards_speak_of_is_found(store):
    library = opened(store)
    path = next(each for each in entries(store, "trees") if len(list(library.tree(each.name).leaves())) == 3)

    def shortened(data):
        tree = Tree.of(data)
        steps, (key, sources, _, _) = next(tree.leaves())
        cut = Tree()
        paths = tuple(map(tree.paths.path, sources[:-1]))
        cut.add(tree.trace(steps), key, paths)
        return cut.data()

    rewrite(path, shortened)
    assert [each.key for each in Verification(opened(store), loaded).damaged] == [path.name]


def test_repair_removes_the_damaged_and_the_rest_stays(store, program):
    path = entries(store, "kernels")[0]
    path.write_bytes(path.read_bytes()[:-1])
    (path.parent / "note.txt").write_text("not an entry")
    done = samovar_command("cache", "verify", directory=store)
    assert done.returncode == 1
    assert path.exists()
    assert f"kernels/{path.name[:10]}" in done.stdout
    assert "checksum" in done.stdout
    assert "2 damaged" in done.stdout
    found = data("cache", "verify", "--repair", directory=store)
    assert (found["damaged"], found["left"]) == (2, 0)
    assert not path.exists()
    assert data("cache", "verify", directory=store)["findings"] == []
    assert run_program(program, store).startswith("1 ")
    assert run_program(program, store) == WARM


def test_a_leaf_without_its_kernel_is_stale_and_no_damage(store, program):
    for path in entries(store, "kernels"):
        path.unlink()
    found = data("cache", "verify", directory=store)
    assert found["damaged"] == 0
    assert [(each["kind"], each["stale"]) for each in found["findings"]] == [("trees", True)] * 2
    assert "stale" in succeeds("cache", "verify", "--repair", directory=store)
    assert entries(store, "trees") == []
    assert run_program(program, store) == COLD


def test_an_entry_that_others_can_write_to_is_found(store):
    path = entries(store, "code")[0]
    path.chmod(0o666)
    found = data("cache", "verify", directory=store, code=1)
    assert found["findings"][0]["problem"] == "others can write to it"


def test_what_cannot_be_removed_is_said(store):
    (entries(store, "names")[0].parent / "folder").mkdir()
    found = data("cache", "verify", "--repair", directory=store, code=1)
    assert (found["damaged"], found["left"]) == (1, 1)


def test_entries_of_another_version_are_no_damage(store, program):
    run_program(program, store, SAMOVAR_BUILD_CACHE_VERSION_ID="other")
    assert data("cache", "verify", directory=store)["findings"] == []


# --- prune


def test_prune_by_age_removes_what_was_not_used_for_so_long(store):
    old, new = entries(store, "kernels")[:2]
    os.utime(old, (1, 1))
    found = data("cache", "prune", "--older-than", "30d", directory=store)
    assert found["removed"] == 1
    assert not old.exists()
    assert new.exists()


def test_prune_by_size_keeps_what_was_used_last(store):
    everything = [path for kind in ("trees", "kernels", "code", "names") for path in entries(store, kind)]
    for age, path in enumerate(everything):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    found = data("cache", "prune", "--max-size", "4K", directory=store)
    left = [path for path in everything if path.exists()]
    assert sum(path.stat().st_size for path in left) <= 4096
    assert left == everything[: len(left)]
    assert found["removed"] == len(everything) - len(left)


def test_prune_without_options_goes_by_the_limit_of_the_store(store):
    assert data("cache", "prune", directory=store)["removed"] == 0
    done = samovar_command("cache", "prune", directory=store, variables={"SAMOVAR_OFFLINE_CACHE_MAX_SIZE": "2000"})
    assert done.returncode == 0
    assert sum(path.stat().st_size for kind in ("trees", "kernels", "code", "names") for path in entries(store, kind)) < 2000


def test_prune_of_other_versions_leaves_the_present_one(store, program):
    before = {name for name in contents(store) if "/names/" not in name}
    assert run_program(program, store, SAMOVAR_BUILD_CACHE_VERSION_ID="other") == COLD
    older = store / "v0" / "kernels"
    older.mkdir(parents=True)
    (older / "some").write_bytes(b"of another format")
    found = data("cache", "prune", "--other-versions", directory=store)
    assert found["removed"] == 2 + 4 + 4 + 1
    assert {name for name in contents(store) if "/names/" not in name} == before
    assert not (store / "v0").exists()
    assert run_program(program, store) == WARM
    assert run_program(program, store, SAMOVAR_BUILD_CACHE_VERSION_ID="other") == COLD


# --- clear


def test_clear_asks_where_somebody_can_answer(store):
    before = contents(store)
    code, shown = at_a_terminal("cache", "clear", directory=store, answer="n\n")
    assert code == 1
    assert "remove 12 entries" in shown
    assert "nothing was done" in shown
    assert contents(store) == before
    code, shown = at_a_terminal("cache", "clear", directory=store, answer="y\n")
    assert (code, "12 entries removed" in shown) == (0, True)
    assert data("cache", "list", directory=store) == []


def test_clear_wants_to_be_told_where_nobody_can_answer(store, program):
    before = contents(store)
    done = samovar_command("cache", "clear", directory=store)
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert contents(store) == before
    assert data("cache", "clear", "--yes", directory=store) == {"removed": 12}
    assert run_program(program, store) == COLD
