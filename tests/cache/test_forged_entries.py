"""Entries with right checksums that this version has not written: no launch fails, hangs, grows or gives another number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forging import Forger, mutated

import samovar as sv
from samovar.cache.bundle import Bundle, BundleError, write_bundle
from samovar.cache.entry import Damaged, opened, sealed, unsealed, unwrapped, wrapped
from samovar.cache.export_import import export_bundle, import_bundle
from samovar.cache.kernel_cache import Library
from samovar.cache.store import KINDS, Store
from samovar.cli import main
from samovar.fingerprint import FileCache
from samovar.runtime.loaded_kernel import loaded

PROGRAM = Path(__file__).parent / "fuzz_program.py"


def fuzz(folder, seed, times):
    command = [sys.executable, str(PROGRAM), str(folder / "cache"), str(seed), str(times)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr[-3000:]
    launched, compiled = map(int, done.stdout.split())
    assert launched == times
    assert 0 < compiled < times  # some do harm enough to be compiled again, and some none


def test_launches_on_forged_entries(tmp_path):
    fuzz(tmp_path, 20, 150)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(4))
def test_launches_on_thousands_of_forged_entries(tmp_path, seed):
    fuzz(tmp_path, seed, 2500)


# --- what looks at stores and bundles


def make(name="k"):
    @sv.kernel
    def k(a: sv.types.ndarray(), n: sv.i32) -> sv.i32:
        for i in a:
            a[i] = n * 5
        return n + 1

    return k


def launch(cache):
    sv.init(offline_cache_file_path=cache, log_level="error")
    before, k = sv.compile_count(), make()
    for dtype in (sv.f32, sv.i32):
        a = sv.ndarray(dtype, 4)
        assert k(a, 2) == 3
        assert list(a) == [10] * 4
    return sv.compile_count() - before


@pytest.fixture
def cache(tmp_path):
    assert launch(tmp_path / "cache") == 2
    assert launch(tmp_path / "cache") == 0
    return tmp_path / "cache"


def files(cache):
    return {path: path.read_bytes() for kind in KINDS for path in sorted(cache.glob(f"v*/{kind}/*"))}


def forger_of(cache, seed):
    return Forger([(path.parent.name, path.name, content) for path, content in files(cache).items()], seed)


COMMANDS = [
    ["cache", "list"], ["cache", "stats", "--json"], ["cache", "verify"], ["cache", "explain"],
    ["cache", "prune", "--other-versions"], ["cache", "verify", "--repair"],
]  # fmt: skip


def look_at_forged(cache, seed, times, capsys):
    whole, forger = files(cache), forger_of(cache, seed)
    for _ in range(times):
        for path, content in whole.items():
            path.write_bytes(forger.forged(path.parent.name, path.name, content))
            path.chmod(0o600)
        for command in COMMANDS:
            assert main([*command, "--directory", str(cache)]) in (0, 1)
        bundle = cache.parent / "bundle"
        assert main(["cache", "export", str(bundle), "--directory", str(cache)]) in (0, 1)
        capsys.readouterr()
        launch(cache)
    assert launch(cache) == 0


def test_commands_on_forged_entries(cache, capsys):
    look_at_forged(cache, 3, 12, capsys)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_commands_on_many_forged_entries(cache, capsys):
    look_at_forged(cache, 4, 1000, capsys)


def library_at(path):
    return Library(Store(str(path), 1 << 30, lambda message: None))


def import_forged(cache, tmp_path, seed, times):
    path = tmp_path / "bundle"
    export_bundle(library_at(cache), str(path), loaded)
    with Bundle(str(path)) as bundle:
        salt, names = bundle.salt, bundle.names
        entries = [(kind, key, wrapped(kind, key, data)) for kind, key, data in bundle.entries()]
    forger = Forger(entries, seed)
    for number in range(times):
        chosen = forger.random.randrange(len(entries))
        contents = [forger.forged(*each) if place == chosen else each[2] for place, each in enumerate(entries)]
        write_bundle(str(path), salt, names, contents)
        target = tmp_path / f"target{number}"
        try:
            with Bundle(str(path)) as bundle:
                import_bundle(library_at(target), bundle, loaded)
        except BundleError:
            assert not list(target.glob("v*/kernels/*"))
        launch(target)


def test_bundles_with_forged_entries(cache, tmp_path):
    import_forged(cache, tmp_path, 5, 40)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_bundles_with_many_forged_entries(cache, tmp_path):
    import_forged(cache, tmp_path, 6, 1500)


@pytest.mark.parametrize(
    "header", [b"", b"[]", b"5", b'{"salt": 5, "kernels": []}', b"[" * 100_000, b"\xff" * 100, b'{"a": 1e999}']
)
def test_a_bundle_with_another_header_is_refused(tmp_path, header):
    from samovar.cache import bundle as bundles

    path = tmp_path / "bundle"
    content = bundles.MAGIC + len(header).to_bytes(8, "little") + header + bytes(8)
    path.write_bytes(b"".join(bundles._summed([content])))
    with pytest.raises(BundleError):
        Bundle(str(path))


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 10**6])
def test_a_bundle_whose_lengths_lead_beyond_its_end_is_refused(cache, tmp_path, length):
    from samovar.cache import bundle as bundles

    path = tmp_path / "bundle"
    content = bundles.MAGIC + length.to_bytes(8, "little") + b"{}"
    path.write_bytes(b"".join(bundles._summed([content])))
    with pytest.raises(BundleError):
        Bundle(str(path))


# --- single forgeries


def entry(cache, kind):
    return next(iter(sorted(cache.glob(f"v*/{kind}/*"))))


def rewrite_artifacts(cache, change):
    """Every artifact with other fields, sealed and summed as it should be."""
    def changed(content):
        fields, seconds = unsealed(content, "({(S*)}F)")
        return sealed((tuple(change(dict(fields)).items()), seconds))

    def below(segment):
        steps, end = segment
        if isinstance(end, tuple):
            return [steps, (*end[:3], None if end[3] is None else changed(end[3]))]
        return [steps, [*end[:2], [[answer, below(inner)] for answer, inner in end[2]]]]

    for path in cache.glob("v*/kernels/*"):
        content, record = unwrapped("kernels", path.name, path.read_bytes())
        path.write_bytes(wrapped("kernels", path.name, (changed(content), record)))
    for path in cache.glob("v*/trees/*"):
        rows, root = unwrapped("trees", path.name, path.read_bytes())
        path.write_bytes(wrapped("trees", path.name, (rows, below(root))))


def test_an_artifact_with_fewer_tasks_than_its_code_runs_gives_the_same_numbers(cache):
    rewrite_artifacts(cache, lambda fields: {name: value for name, value in fields.items() if name != "tasks"})
    assert launch(cache) == 0
    with sv.profiler() as profile:
        launch(cache)
    assert len(profile.kernels) == 1


def test_guards_that_do_not_hold_are_replaced_by_a_compile(cache):
    """Those that ask for another type hold for nothing."""
    from samovar._native import encode_program

    never = encode_program([("parameter", 0, 0), ("type", 0, (..., "type", 0)), ("value", 0, 5)])
    rewrite_artifacts(cache, lambda fields: {**fields, "program": never, "registers": 1})
    assert launch(cache) == 2
    assert launch(cache) == 0


@pytest.mark.parametrize(
    "change", [{"block_size": 0}, {"registers": 0}, {"program": b""}, {"results": 5}, {"fills": b""}]
)
def test_a_field_that_does_not_fit_the_others_is_a_miss(cache, change):
    rewrite_artifacts(cache, lambda fields: {**fields, **change})
    assert launch(cache) in (0, 2)
    assert launch(cache) == 0


def test_trees_under_the_keys_of_others_lead_nowhere(tmp_path):
    """Two kernels that are asked the same questions: with their trees exchanged, one would run the code of the other."""

    def both():
        @sv.kernel
        def plus(n: sv.i32) -> sv.i32:
            return n + 1

        @sv.kernel
        def minus(n: sv.i32) -> sv.i32:
            return n - 1

        sv.init(offline_cache_file_path=tmp_path / "cache", log_level="error")
        before = sv.compile_count()
        assert (plus(5), minus(5)) == (6, 4)
        return sv.compile_count() - before

    assert both() == 2
    assert both() == 0
    one, two = sorted((tmp_path / "cache").glob("v*/trees/*"))
    first, second = (unwrapped("trees", path.name, path.read_bytes()) for path in (one, two))
    one.write_bytes(wrapped("trees", one.name, second))
    two.write_bytes(wrapped("trees", two.name, first))
    assert both() == 2
    assert both() == 0


def test_answers_that_were_changed_lead_nowhere(cache):
    """What was compiled for f32 is not used for i32, whatever the tree says of it."""
    path = entry(cache, "trees")
    rows, root = unwrapped("trees", path.name, path.read_bytes())
    text = repr((rows, root)).replace("'f32'", "'f64'")
    path.write_bytes(wrapped("trees", path.name, eval(text, {"inf": float("inf"), "nan": float("nan")})))
    sv.init(offline_cache_file_path=cache, log_level="error")
    a = sv.ndarray(sv.f64, 4)
    assert make()(a, 2) == 3
    assert list(a) == [10] * 4


def test_data_of_another_form_is_found_where_files_become_data(cache):
    whole, forger = files(cache), forger_of(cache, 7)
    accepted = 0
    for _ in range(400):
        for path in whole:
            kind, key = path.parent.name, path.name
            try:
                content = wrapped(kind, key, mutated(forger.data[kind, key], forger.random, forger.pool))
                assert opened(content)[:2] == (kind, key)
                accepted += 1
            except (Damaged, ValueError):
                continue
    assert accepted > 0


@pytest.mark.parametrize(
    "content", [b"x" * 100_000, b"9" * 100_000 + b" 1 1\n", b"1 2 nan\n", b"\xff\n\n", b"1 1\n", b"-1 -1 -1\n"]
)
def test_any_statistics_can_be_read(cache, content, capsys):
    next(cache.glob("v*")).joinpath("statistics").write_bytes(content)
    assert main(["cache", "stats", "--directory", str(cache)]) == 0
    capsys.readouterr()


def test_nobody_waits_for_pipes(cache, tmp_path, capsys):
    statistics = next(cache.glob("v*")) / "statistics"
    statistics.unlink(missing_ok=True)
    os.mkfifo(statistics)
    assert main(["cache", "stats", "--directory", str(cache)]) == 0
    os.mkfifo(tmp_path / "pipe")
    assert main(["cache", "import", "--yes", str(tmp_path / "pipe"), "--directory", str(cache)]) == 1
    assert "is not a regular file" in capsys.readouterr().err
    steps = FileCache(tmp_path / "steps")
    key = "0" * 40
    steps[key] = b"content"
    assert steps.get(key, None) == b"content"
    Path(steps.path_of(key)).unlink()
    os.mkfifo(steps.path_of(key))
    assert steps.get(key, None) is None
