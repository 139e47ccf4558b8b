"""Members that launch, clear or set options while a launch reads them."""

import subprocess
import sys
from textwrap import dedent

import pytest

import samovar as sv


def run(text):
    done = subprocess.run([sys.executable, "-c", dedent(text)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


ENDLESS = """
import sys, threading
import samovar as sv

@sv.data_oriented(template_primitives=False)
class Owner:
    endless = False

    def __init__(self):
        self.x = sv.ndarray(sv.f32, 4)

    @property
    def y(self):
        if Owner.endless:
            self.step()
        return 1.0

    @sv.kernel
    def step(self):
        for i in self.x:
            self.x[i] += sv.f32(self.y)

owner = Owner()

def launch():
    try:
        owner.step()
    except (RecursionError, sv.SamovarCompilationError) as error:
        print(type(error).__name__)
    Owner.endless = False
    owner.step()
    Owner.endless = True
"""


@pytest.mark.parametrize("first", [True, False])
def test_a_property_that_launches_its_kernel_without_end(first, tmp_path):
    program = tmp_path / "program.py"
    begin = "" if first else "owner.step()\n"
    program.write_text(f"{ENDLESS}\n{begin}Owner.endless = True\nlaunch()\nlaunch()\nprint(owner.x[0])\n")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    # A compile says which member it could not read.
    kind = "SamovarCompilationError" if first else "RecursionError"
    assert done.stdout.split() == [kind, "RecursionError", "2.0" if first else "3.0"]


@pytest.mark.parametrize("count", [1, 2])
def test_a_member_is_read_a_few_times_per_level_before_the_stack_is_used_up(count):
    """Kernels that have a specialization already, and are launched by a property of another object each."""
    levels, deepest, reads = run(f"""
        import samovar as sv

        a = sv.ndarray(sv.f32, 4)

        def made():
            @sv.kernel
            def add(o: sv.template()):
                for i in o.x:
                    o.x[i] += 1
            return add

        kernels = [made() for _ in range({count})]

        class Plain:
            x = a

        class Endless:
            level = deepest = reads = 0

            @property
            def x(self):
                Endless.reads += 1
                Endless.level += 1
                Endless.deepest = max(Endless.level, Endless.deepest)
                try:
                    kernels[Endless.level % {count}](self)
                finally:
                    Endless.level -= 1
                return a

        for each in kernels:
            each(Plain())
        try:
            kernels[0](Endless())
        except (RecursionError, sv.SamovarCompilationError):
            print(Endless.level, Endless.deepest, Endless.reads)
        kernels[0](Plain())
        """)
    assert int(levels) == 0
    assert int(reads) <= 6 * int(deepest)


@pytest.mark.parametrize("size", [512 << 10, 4 << 20, 64 << 20])
def test_the_same_on_the_stack_of_a_thread_and_with_another_limit(size, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"""{ENDLESS}
owner.step()
Owner.endless = True
sys.setrecursionlimit(50_000)
threading.stack_size({size})
thread = threading.Thread(target=launch)
thread.start()
thread.join()
""")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["RecursionError"]


def test_a_property_that_is_the_kernel():
    """No call of a Python function is between the launches."""
    assert run("""
        from samovar._native import Image, Kernel, Specialization
        from samovar.backends.images.image import ImageParts

        image = Image.from_flat(ImageParts(b"\\x31\\xc0\\xc3", (), (("samovar_entry", 0, 3),)).flat())
        made = Specialization(image, [("parameter", 0, 0), ("attribute", 1, 0, "x")], 2, 0)
        kernel = Kernel(lambda owner: None, ("owner",), {}, lambda kernel, arguments: made)

        class Owner:
            x = property(kernel)

        try:
            kernel(Owner())
        except RecursionError as error:
            print("kernel" in str(error))
        """) == ["True"]


def test_a_property_that_launches_another_kernel():
    @sv.kernel
    def grow(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a[i] *= 2

    @sv.data_oriented(template_primitives=False)
    class Owner:
        def __init__(self):
            self.x = sv.ndarray(sv.f32, 2)
            self.rate = sv.ndarray(sv.f32, 1)
            self.rate[0] = 1.0

        @property
        def y(self):
            grow(self.rate)
            return self.rate[0]

        @sv.kernel
        def step(self):
            for i in self.x:
                self.x[i] = self.y

    owner = Owner()
    owner.step()
    before = owner.rate[0]
    owner.step()
    assert owner.x[0] == 2 * before


@pytest.mark.parametrize("how", ["reset", "init", "forget"])
def test_a_property_that_clears_the_kernel_each_time(how):
    @sv.data_oriented(template_primitives=False)
    class Owner:
        armed = False

        def __init__(self):
            self.x = sv.ndarray(sv.f32, 4)

        @property
        def y(self):
            if Owner.armed:
                {"reset": sv.reset, "init": lambda: sv.init(default_fp=sv.f64), "forget": Owner.step.forget}[how]()
            return 1.0

        @sv.kernel
        def step(self):
            for i in self.x:
                self.x[i] += sv.f32(self.y)

    owner = Owner()
    owner.step()
    Owner.armed = True
    for _ in range(3):
        owner.step()
    assert owner.x[0] == 4
    assert Owner.step.specializations == []
    Owner.armed = False
    owner.step()
    owner.step()
    assert owner.x[0] == 6
    assert len(Owner.step.specializations) == 1


def test_options_that_are_set_while_members_are_read_win():
    @sv.data_oriented(template_primitives=False)
    class Owner:
        armed = True

        def __init__(self):
            self.x = sv.ndarray(sv.f32, 4)

        @property
        def y(self):
            if Owner.armed:
                Owner.armed = False
                sv.init(debug=True)
            return 5

        @sv.kernel
        def step(self):
            self.x[self.y] = 1.0

    with pytest.raises(sv.SamovarRuntimeError, match="out of bounds"):
        Owner().step()
