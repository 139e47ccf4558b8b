"""`samovar warm`: a program runs as it would without it, and the next run compiles nothing."""

import json

import pytest
from command_line import COLD, WARM, at_a_terminal, run_program, samovar_command


def warm(*arguments, directory, **options):
    return samovar_command("warm", *arguments, directory=directory, **options)


def test_a_second_process_compiles_nothing_after_warm(program, tmp_path):
    done = warm(program, directory=tmp_path / "store")
    assert (done.returncode, done.stdout) == (0, COLD)
    assert "samovar: 4 kernels compiled, 0 loaded, " in done.stderr
    assert run_program(program, tmp_path / "store") == WARM
    again = warm(program, directory=tmp_path / "store")
    assert again.stdout == WARM
    assert "0 kernels compiled, 4 loaded" in again.stderr


def test_the_same_holds_where_lines_count(program, tmp_path):
    store = tmp_path / "store"
    assert warm(program, directory=store, variables={"SAMOVAR_DEBUG": "1"}).stdout == COLD
    assert run_program(program, store, SAMOVAR_DEBUG="1") == WARM
    assert warm(program.name, directory=store, variables={"SAMOVAR_DEBUG": "1"}, cwd=program.parent).stdout == WARM


def test_warm_switches_the_cache_on_and_takes_a_directory(program, tmp_path):
    off = {"SAMOVAR_OFFLINE_CACHE": "0", "SAMOVAR_SRC_LL_CACHE": "0"}
    done = warm("--directory", "here", program, directory=tmp_path / "unused", variables=off, cwd=tmp_path)
    assert done.stdout == COLD
    assert run_program(program, tmp_path / "here") == WARM
    assert not (tmp_path / "unused").exists()


def test_a_program_that_switches_the_cache_off_is_told_of(tmp_path, program):
    path = tmp_path / "off.py"
    path.write_text("import samovar as sv\nsv.init(offline_cache=False)\n" + program.read_text())
    done = warm(path, directory=tmp_path / "store")
    assert done.stdout == COLD
    assert "nothing was cached" in done.stderr
    assert not (tmp_path / "store").exists()


def test_a_program_sees_what_it_would_see_without_warm(tmp_path):
    path = tmp_path / "program.py"
    (tmp_path / "neighbor.py").write_text("word = 'beside'")
    path.write_text(
        "import sys, neighbor\n"
        "print(__name__, __file__, sys.argv, sys.path[0], neighbor.word, sys.modules['__main__'].__file__)"
    )
    done = warm("program.py", "--json", "-x", "one", directory=tmp_path / "store", cwd=tmp_path)
    seen = f"__main__ {path} ['program.py', '--json', '-x', 'one'] {tmp_path} beside {path}\n"
    assert (done.returncode, done.stdout) == (0, seen)
    assert run_program(path, tmp_path / "store").endswith(f"{tmp_path} beside {path}\n")


def test_a_module_can_be_warmed(tmp_path, program):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(program.read_text())
    assert warm("-m", "package", directory=tmp_path / "store", cwd=tmp_path).stdout == COLD
    assert warm("-m", "package", directory=tmp_path / "store", cwd=tmp_path).stdout == WARM


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('out of water')", 1, "out of water\n"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("1 +", 1, "SyntaxError: invalid syntax"),
        ("def boil():\n    raise ValueError('no water')\nboil()", 1, "ValueError: no water"),
    ],
)
def test_the_exit_code_is_passed_on(tmp_path, program, end, code, said):
    path = tmp_path / "program.py"
    path.write_text(f"{program.read_text()}\n{end}\n")
    done = warm(path, directory=tmp_path / "store")
    runs = end != "1 +"
    assert (done.returncode, done.stdout) == (code, COLD if runs else "")
    assert said in done.stderr
    assert f"{4 if runs else 0} kernels compiled" in done.stderr
    assert ("exit code" in done.stderr) == (code != 0)
    for ours in ("warming.py", "runpy"):
        assert ours not in done.stderr
    assert ("in boil" in done.stderr) == ("boil" in end)


def test_kernels_of_threads_that_outlive_the_program_count(tmp_path, program):
    path = tmp_path / "program.py"
    path.write_text(
        "import threading, time\nimport samovar as sv\n"
        "@sv.kernel\ndef three() -> sv.i32:\n    return 3\n"
        "def late():\n    time.sleep(0.3)\n    print(three())\n"
        "threading.Thread(target=late).start()\n"
    )
    done = warm(path, directory=tmp_path / "store")
    assert done.stdout == "3\n"
    assert "1 kernel compiled" in done.stderr


def test_the_summary_is_the_last_of_the_output_for_machines(tmp_path, program):
    done = warm("--json", program, directory=tmp_path / "store")
    assert done.stdout.startswith(COLD)
    assert done.stderr == ""
    summary = json.loads(done.stdout.removeprefix(COLD))
    assert summary.pop("seconds") > 0
    assert summary == {"compiled": 4, "loaded": 0, "llvm_runs": 4, "exit_code": 0, "kept": True}


def test_a_program_that_is_not_there_is_wrong_usage(tmp_path):
    done = warm("missing.py", directory=tmp_path / "store", cwd=tmp_path)
    assert done.returncode == 2
    assert "missing.py" in done.stderr
    assert "Traceback" not in done.stderr
    assert "missing.py" in json.loads(warm("--json", "missing.py", directory=tmp_path, cwd=tmp_path).stdout)["error"]


def test_a_terminal_shows_what_is_compiled_and_the_program_s_own_output(tmp_path, program):
    code, shown = at_a_terminal("warm", program, directory=tmp_path / "store")
    assert code == 0
    assert "1 compiled, 0 loaded: compiled scale" in shown
    assert "4 compiled, 0 loaded: compiled two" in shown
    assert COLD.strip() in shown
    assert "4 kernels compiled" in shown


def test_a_terminal_s_program_may_fork(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import os\nimport samovar as sv\n"
        "@sv.kernel\ndef three() -> sv.i32:\n    return 3\n"
        "child = os.fork()\n"
        "if child == 0:\n    print('child', three(), flush=True)\n    os._exit(0)\n"
        "os.waitpid(child, 0)\nprint('parent', three())\n"
    )
    code, shown = at_a_terminal("warm", path, directory=tmp_path / "store")
    assert code == 0
    assert "child 3" in shown
    assert "parent 3" in shown
    assert "0 kernels compiled, 1 loaded" in shown
