"""`samovar cache export` and `import`: a file that warms another machine, and is refused where it does not fit."""

import pytest
from command_line import (
    COLD,
    WARM,
    at_a_terminal,
    contents,
    data,
    entries,
    run_program,
    samovar_command,
    succeeds,
)

from samovar.cache.bundle import MAGIC, Bundle, BundleError, write_bundle
from samovar.cache.entry import sealed, unwrapped, wrapped
from samovar.cache.export_import import export_bundle, import_bundle
from samovar.cache.kernel_cache import Library
from samovar.cache.store import Store
from samovar.runtime.loaded_kernel import loaded


def opened(directory, limit=1 << 30):
    return Library(Store(str(directory), limit, pytest.fail))


@pytest.fixture
def bundle(filled, tmp_path):
    path = tmp_path / "kernels.samovar"
    export_bundle(opened(filled), str(path), loaded)
    return path


def rewritten(path, change=lambda kind, key, data: (kind, key, data), **parts):
    """Change a bundle: parts of its salt, and its entries. All checksums are right afterwards."""
    with Bundle(str(path)) as found:
        made = [wrapped(*change(*each)) for each in found.entries()]
        write_bundle(str(path), {**found.salt, **parts}, found.names, made)


# --- there and back


def test_a_second_process_compiles_nothing_after_export_and_import(store, program, tmp_path):
    file, fresh = tmp_path / "all.samovar", tmp_path / "fresh"
    exported = data("cache", "export", file, directory=store)
    assert (exported["artifacts"], exported["kernels"]) == (4, ["__main__.scale", "__main__.two"])
    assert exported["size"] == file.stat().st_size
    imported = data("cache", "import", file, "--yes", directory=fresh)
    assert (imported["new"], imported["known"]) == (4, 0)
    assert run_program(program, fresh) == WARM
    assert data("cache", "verify", directory=fresh)["findings"] == []
    assert len(entries(fresh, "names")) == 2
    assert data("cache", "explain", directory=fresh) == [
        {**each, "used": pytest.approx(each["used"], abs=1e9)} for each in data("cache", "explain", directory=store)
    ]


def test_an_import_brings_the_images_of_the_code_cache(bundle, program, tmp_path):
    fresh = tmp_path / "fresh"
    succeeds("cache", "import", bundle, "--yes", directory=fresh)
    renamed = tmp_path / "renamed.py"
    renamed.write_text(program.read_text().replace("by", "factor").replace("sv.compile_count()", 'sv.compile_count("llvm")'))
    assert run_program(renamed, fresh) == WARM


def test_names_choose_what_is_exported(store, program, tmp_path):
    file, fresh = tmp_path / "two.samovar", tmp_path / "fresh"
    assert data("cache", "export", file, "two", directory=store)["kernels"] == ["__main__.two"]
    succeeds("cache", "import", file, "--yes", directory=fresh)
    assert [len(entries(fresh, kind)) for kind in ("trees", "kernels", "code", "names")] == [1, 1, 1, 1]
    assert run_program(program, fresh).startswith("3 ")


def test_an_import_merges_with_what_is_there(store, program, tmp_path):
    """Each side knows an artifact of one kernel that the other does not: afterwards both are found."""
    file, other = tmp_path / "all.samovar", tmp_path / "other"
    changed = tmp_path / "changed.py"
    changed.write_text(program.read_text().replace("FACTOR = 3", "FACTOR = 5"))
    assert run_program(changed, other).startswith("4 ")
    data("cache", "export", file, directory=store)
    imported = data("cache", "import", file, "--yes", directory=other)
    assert (imported["new"], imported["known"]) == (2, 2)
    assert run_program(program, other) == WARM
    assert run_program(changed, other).startswith("0 ")
    assert data("cache", "verify", directory=other)["findings"] == []


def test_importing_twice_brings_nothing_new(bundle, tmp_path):
    fresh = tmp_path / "fresh"
    data("cache", "import", bundle, "--yes", directory=fresh)
    before = {name: content for name, content in contents(fresh).items() if "/names/" not in name}
    assert data("cache", "import", bundle, "--yes", directory=fresh) == {"directory": str(fresh), "new": 0, "known": 4}
    assert {name: content for name, content in contents(fresh).items() if "/names/" not in name} == before


def test_what_other_versions_have_made_is_not_exported(store, program, tmp_path):
    run_program(program, store, SAMOVAR_BUILD_CACHE_VERSION_ID="other")
    assert data("cache", "export", tmp_path / "b", directory=store)["artifacts"] == 4
    with Bundle(str(tmp_path / "b")) as found:
        kinds = [kind for kind, _, _ in found.entries()]
    assert sorted(kinds) == ["code"] * 4 + ["kernels"] * 4 + ["trees"] * 2


def test_what_is_damaged_stays_behind(store, program, tmp_path):
    file, fresh = tmp_path / "b", tmp_path / "fresh"
    torn, odd = entries(store, "kernels")[:2]
    torn.write_bytes(torn.read_bytes()[:-1])
    held = unwrapped("kernels", odd.name, odd.read_bytes())
    odd.write_bytes(wrapped("kernels", odd.name, ((b"rubbish", *held[0][1:]), *held[1:])))
    entries(store, "code")[0].write_bytes(b"")
    assert data("cache", "export", file, directory=store)["artifacts"] == 2
    assert data("cache", "import", file, "--yes", directory=fresh)["new"] == 2
    assert data("cache", "verify", directory=fresh)["findings"] == []
    assert run_program(program, fresh).startswith("2 ")


def test_there_has_to_be_something_to_export(store, tmp_path):
    done = samovar_command("cache", "export", tmp_path / "b", "three", directory=store)
    assert done.returncode == 1
    assert "no kernel called three" in done.stderr
    assert not (tmp_path / "b").exists()


def test_a_place_that_cannot_be_written_is_said(store, tmp_path):
    done = samovar_command("cache", "export", tmp_path / "missing" / "b", directory=store)
    assert done.returncode == 1
    assert "missing" in done.stderr
    assert "Traceback" not in done.stderr


# --- trust


def test_native_code_is_only_imported_by_who_says_so(bundle, tmp_path):
    fresh = tmp_path / "fresh"
    done = samovar_command("cache", "import", bundle, directory=fresh)
    assert done.returncode == 2
    assert "native code" in done.stderr
    code, shown = at_a_terminal("cache", "import", bundle, directory=fresh, answer="no\n")
    assert (code, "native code" in shown) == (1, True)
    assert not fresh.exists()
    code, shown = at_a_terminal("cache", "import", bundle, directory=fresh, answer="y\n")
    assert (code, "4 artifacts imported" in shown) == (0, True)


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("cpu features", "avx avx2 fma neon", "the features of the processor"),
        ("cpu", "pentium", "the processor"),
        ("python", "cpython-39 610d0d0a", "the version of Python"),
        ("samovar", "0.0.1", "the version of Samovar"),
        ("llvmlite", "0123456789abcdef", "the version of llvmlite"),
        ("system", "linux riscv64 glibc 2.40", "the system"),
    ],
)
def test_a_bundle_for_another_machine_or_version_is_refused_with_the_reason(bundle, store, part, value, words):
    rewritten(bundle, **{part: value})
    before = contents(store)
    done = samovar_command("cache", "import", bundle, "--yes", directory=store)
    assert done.returncode == 1
    reasons = [line for line in done.stderr.splitlines() if line.startswith("  ") and "help" not in line]
    assert len(reasons) == 1
    assert reasons[0].startswith(f"  {words}: ")
    assert value.split()[-1] in reasons[0]
    assert contents(store) == before


def test_the_reason_names_the_features_that_differ(bundle, tmp_path):
    with Bundle(str(bundle)) as found:
        features = found.salt["cpu features"].split()
    rewritten(bundle, **{"cpu features": " ".join([*features[1:], "boiling"])})
    error = data("cache", "import", bundle, "--yes", directory=tmp_path / "fresh", code=1)["error"]
    assert f"-boiling, +{features[0]}" in error


# --- damage


def refused(file, directory, words="damaged"):
    with pytest.raises(BundleError, match=words), Bundle(str(file)) as found:
        import_bundle(opened(directory), found, loaded)


def test_truncated_files_and_flipped_bytes_are_refused(filled, store, tmp_path):
    file = tmp_path / "two.samovar"
    export_bundle(opened(filled), str(file), loaded, ["two"])
    whole, before = file.read_bytes(), contents(store)
    # All of the header, then every fifth byte, which meets every kind of entry.
    for position in [*range(256), *range(256, len(whole), 5)]:
        file.write_bytes(whole[:position])
        refused(file, store, "damaged|not a bundle")
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        file.write_bytes(flipped)
        refused(file, store, "damaged|not a bundle")
    file.write_bytes(whole + b"x")
    refused(file, store)
    assert contents(store) == before


@pytest.mark.parametrize("content", [b"", b"rubbish", MAGIC, MAGIC * 10])
def test_something_else_than_a_bundle_is_refused(content, store, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(content)
    done = samovar_command("cache", "import", file, "--yes", directory=store)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "bundle" in done.stderr or "damaged" in done.stderr


def test_a_file_that_is_not_there_is_said(store, tmp_path):
    done = samovar_command("cache", "import", tmp_path / "missing", "--yes", directory=store)
    assert done.returncode == 1
    assert "missing" in done.stderr
    assert "Traceback" not in done.stderr


def swapped_kernels(path):
    """A change that gives the artifact of one key to another."""
    with Bundle(str(path)) as found:
        keys = [key for kind, key, _ in found.entries() if kind == "kernels"]
    after = dict(zip(keys, keys[1:] + keys[:1], strict=True))
    return lambda kind, key, data: (kind, after.get(key, key), data)


FORGERIES = {
    "a name of a file that is no key": lambda path: lambda kind, key, data: (kind, "../../" + key[:34], data),
    "a folder that is no kind": lambda path: lambda kind, key, data: ("..", key, data),
    "an image that does not load": lambda path: (
        lambda kind, key, data: (kind, key, (data[0], sealed((key, b"rubbish"))) if kind == "code" else data)
    ),
    "an image that is not sealed": lambda path: (
        lambda kind, key, data: (kind, key, (data[0], data[1][:-9]) if kind == "code" else data)
    ),
    "an artifact under another key": swapped_kernels,
    "a tree under another key": lambda path: lambda kind, key, data: (kind, "0" * 40 if kind == "trees" else key, data),
    "an artifact that is missing": lambda path: (
        lambda kind, key, data: ("code" if kind == "kernels" else kind, key, ("", b"") if kind == "kernels" else data)
    ),
    "a record of another salt": lambda path: (
        lambda kind, key, data: (kind, key, (data[0], data[1].replace(b"avx", b"abc")) if kind == "kernels" else data)
    ),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_what_is_wrong_behind_right_checksums_is_refused_and_nothing_changes(bundle, store, what):
    before = contents(store.parent)
    rewritten(bundle, FORGERIES[what](bundle))
    before = {**before, bundle.name: bundle.read_bytes()}
    refused(bundle, store)
    assert contents(store.parent) == before


def test_an_import_that_stops_half_way_leaves_a_store_that_works(bundle, program, tmp_path):
    """The largest kernel does not fit: the disk is full, as far as the process can tell."""
    fresh = tmp_path / "fresh"
    with Bundle(str(bundle)) as found:
        sizes = [len(wrapped(kind, key, data)) for kind, key, data in found.entries() if kind == "kernels"]
    done = samovar_command("cache", "import", bundle, "--yes", directory=fresh, largest_file=max(sizes) - 1)
    assert done.returncode == 1
    assert "the import stopped" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(fresh.rglob("*.tmp"))
    assert data("cache", "verify", directory=fresh)["damaged"] == 0
    assert data("cache", "import", bundle, "--yes", directory=fresh)["new"] > 0
    assert run_program(program, fresh) == WARM


def test_a_bundle_that_has_no_room_is_refused(bundle, tmp_path):
    with pytest.raises(BundleError, match="offline_cache_max_size"), Bundle(str(bundle)) as found:
        import_bundle(opened(tmp_path / "fresh", limit=1000), found, loaded)
    assert not (tmp_path / "fresh").exists()


def test_an_export_that_fails_leaves_the_old_file(store, tmp_path):
    file = tmp_path / "b"
    file.write_text("precious")
    done = samovar_command("cache", "export", file, directory=store, largest_file=2000)
    assert done.returncode == 1
    assert file.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("b")] == ["b"]


def test_cold_means_cold(program, tmp_path):
    """What the tests above rest on: without an import, the program compiles."""
    assert run_program(program, tmp_path / "fresh") == COLD
