"""Scenes of Genesis, one or more per solver, on Quadrants and on Samovar: do they agree, how fast do they build and step?

It needs an environment of its own with Genesis in it, `pip install genesis-world==1.4.5 torch==2.13.0`, and Samovar:

    python benchmarks/genesis_scenes.py --python path/to/that/python [--only boxes,sand] [--rounds 2] [--cache directory]

Each run is a process of its own; Quadrants and Samovar take turns. In a new cache directory the first round is cold and the
others are warm. Positions are compared after some steps; with floats of 32 bits, scenes with contacts are chaotic, and
`--precision 64` postpones that. Times of steps are processor time of all threads. The figures go to out/genesis_scenes.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent.parent / "out" / "genesis_scenes.json"
CONTENDERS = {"Quadrants": [], "Samovar": ["-m", "samovar", "run", "--as", "quadrants"]}
#: After which steps states are compared.
COMPARED = (1, 3, 10, 30)
#: What states may differ by, relative to their largest value, to count as equal.
TOLERANCE = {"32": 1e-4, "64": 1e-8}
STEPS_PER_TIME, TIMES = 10, 5

Scene = Any
Entity = Any
#: A built scene, what a step does besides, and the entities whose states are compared.
Made = tuple[Scene, Callable[[int], None], list[Entity]]
SCENES: dict[str, Callable[[Any], Made]] = {}


def scene(make: Callable[[Any], Made]) -> Callable[[Any], Made]:
    """Add a scene to the table."""
    SCENES[make.__name__] = make
    return make


def empty(gs: Any, **options: Any) -> Scene:
    """A scene with nothing in it and without a viewer."""
    return gs.Scene(show_viewer=False, **options)


def uncontrolled(step: int) -> None:
    """A scene that is left to itself."""


def built(made: Scene, entities: list[Entity], control: Callable[[int], None] = uncontrolled, **options: Any) -> Made:
    """Build a scene."""
    made.build(**options)
    return made, control, entities


# --- rigid bodies


def add_arm(gs: Any, made: Scene) -> Entity:
    """Add the Franka arm on a plane."""
    made.add_entity(gs.morphs.Plane())
    return made.add_entity(gs.morphs.MJCF(file="xml/franka_emika_panda/panda.xml"))


@scene
def arm(gs: Any) -> Made:
    """An arm that falls."""
    made = empty(gs)
    return built(made, [add_arm(gs, made)])


@scene
def arms(gs: Any) -> Made:
    """16 environments, each with its own targets of the joints."""
    import torch

    made = empty(gs)
    robot = add_arm(gs, made)
    made.build(n_envs=16, env_spacing=(1.0, 1.0))
    angles = torch.linspace(-1, 1, 16)[:, None] * torch.linspace(0.2, 1, 9)[None, :]

    def control(step: int) -> None:
        robot.control_dofs_position(angles * min(1.0, step / 20))

    return made, control, [robot]


@scene
def boxes(gs: Any) -> Made:
    """A stack of boxes with spheres around: many contacts."""
    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    stack = [made.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0.01 * i, 0, 0.06 + 0.11 * i))) for i in range(4)]
    balls = [made.add_entity(gs.morphs.Sphere(radius=0.05, pos=(0.2, 0.12 * i, 0.1 + 0.05 * i))) for i in range(3)]
    return built(made, stack + balls)


@scene
def meshes(gs: Any) -> Made:
    """A mesh that is decomposed into convex parts, and a cylinder."""
    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    duck = made.add_entity(gs.morphs.Mesh(file="meshes/duck.obj", scale=0.05, pos=(0, 0, 0.2), euler=(90, 0, 0)))
    pillar = made.add_entity(gs.morphs.Cylinder(height=0.2, radius=0.05, pos=(0.3, 0, 0.15), euler=(40, 0, 0)))
    return built(made, [duck, pillar])


@scene
def terrain(gs: Any) -> Made:
    """A sphere and a box on terrain."""
    made = empty(gs)
    kinds = [["flat_terrain", "pyramid_sloped_terrain"], ["stairs_terrain", "wave_terrain"]]
    size = {"n_subterrains": (2, 2), "subterrain_size": (3.0, 3.0), "horizontal_scale": 0.25, "vertical_scale": 0.005}
    made.add_entity(gs.morphs.Terrain(subterrain_types=kinds, **size))
    ball = made.add_entity(gs.morphs.Sphere(radius=0.1, pos=(4.3, 1.2, 0.8)))
    box = made.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.2), pos=(1.4, 4.4, 0.8)))
    return built(made, [ball, box])


@scene
def quadrupeds(gs: Any) -> Made:
    """A quadruped that stands, in four environments."""
    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    robot = made.add_entity(gs.morphs.URDF(file="urdf/go2/urdf/go2.urdf", pos=(0, 0, 0.42)))
    return built(made, [robot], n_envs=4)


@scene
def ant_elliptic(gs: Any) -> Made:
    """Conjugate gradients as the solver of constraints, an implicit integrator."""
    rigid = gs.options.RigidOptions(
        constraint_solver=gs.constraint_solver.CG, integrator=gs.integrator.Euler, enable_self_collision=True
    )
    made = empty(gs, rigid_options=rigid)
    made.add_entity(gs.morphs.Plane())
    return built(made, [made.add_entity(gs.morphs.MJCF(file="xml/ant.xml"))])


@scene
def gjk(gs: Any) -> Made:
    """Collision detection by GJK, with hibernation off and friction without slip."""
    rigid = gs.options.RigidOptions(use_gjk_collision=True, noslip_iterations=3)
    made = empty(gs, rigid_options=rigid)
    made.add_entity(gs.morphs.Plane())
    several = [made.add_entity(gs.morphs.Box(size=(0.1, 0.2, 0.1), pos=(0, 0.05 * i, 0.1 + 0.15 * i))) for i in range(3)]
    return built(made, several)


@scene
def inverse_kinematics(gs: Any) -> Made:
    """The arm follows a circle by inverse kinematics."""
    import math

    made = empty(gs)
    robot = add_arm(gs, made)
    made.build()
    hand = robot.get_link("hand")

    def control(step: int) -> None:
        angle = step / 20
        goal = [0.45 + 0.1 * math.cos(angle), 0.1 * math.sin(angle), 0.5]
        robot.control_dofs_position(robot.inverse_kinematics(link=hand, pos=goal, quat=[0, 1, 0, 0]))

    return made, control, [robot]


@scene
def path_planning(gs: Any) -> Made:
    """The arm plans a path around nothing, and follows it."""
    made = empty(gs)
    robot = add_arm(gs, made)
    made.build()
    hand = robot.get_link("hand")
    goal = robot.inverse_kinematics(link=hand, pos=[0.5, 0.1, 0.5], quat=[0, 1, 0, 0])
    path = robot.plan_path(qpos_goal=goal, num_waypoints=40)

    def control(step: int) -> None:
        robot.control_dofs_position(path[min(step, len(path) - 1)])

    return made, control, [robot]


@scene
def sensors(gs: Any) -> Made:
    """An inertial sensor, contacts and a range finder on a falling box."""
    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    box = made.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.2), pos=(0, 0, 0.4), euler=(20, 10, 0)))
    found = [
        made.add_sensor(gs.sensors.IMU(entity_idx=box.idx)),
        made.add_sensor(gs.sensors.Contact(entity_idx=box.idx)),
        made.add_sensor(gs.sensors.ContactForce(entity_idx=box.idx)),
        made.add_sensor(gs.sensors.Lidar(pattern=gs.sensors.SphericalPattern(n_points=(8, 8)), entity_idx=box.idx)),
    ]

    def control(step: int) -> None:
        for sensor in found:
            sensor.read()

    return built(made, [box, *found], control)


# --- deformable bodies and fluids


def material_points(gs: Any, material: Any, **options: Any) -> Made:
    """A box of a material of the material point method that falls on the ground."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=10),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.5, -0.5, 0), upper_bound=(0.5, 0.5, 0.5), grid_density=32),
    )
    made.add_entity(gs.morphs.Plane())
    body = made.add_entity(gs.morphs.Box(pos=(0, 0, 0.2), size=(0.2, 0.2, 0.2)), material=material)
    return built(made, [body], **options)


@scene
def elastic(gs: Any) -> Made:
    """MPM: an elastic box."""
    return material_points(gs, gs.materials.MPM.Elastic())


@scene
def elastic_batch(gs: Any) -> Made:
    """MPM: an elastic box in four environments."""
    return material_points(gs, gs.materials.MPM.Elastic(), n_envs=4)


@scene
def plastic(gs: Any) -> Made:
    """MPM: a box of clay."""
    return material_points(gs, gs.materials.MPM.ElastoPlastic())


@scene
def sand(gs: Any) -> Made:
    """MPM: a box of sand."""
    return material_points(gs, gs.materials.MPM.Sand(sampler="regular"))


@scene
def liquid(gs: Any) -> Made:
    """MPM: a box of liquid."""
    return material_points(gs, gs.materials.MPM.Liquid(sampler="regular"))


@scene
def snow(gs: Any) -> Made:
    """MPM: a box of snow."""
    return material_points(gs, gs.materials.MPM.Snow(sampler="regular"))


@scene
def muscle(gs: Any) -> Made:
    """MPM: a body with a muscle that is actuated."""
    import math

    made, _, entities = material_points(gs, gs.materials.MPM.Muscle(E=2e4, nu=0.45, n_groups=1, sampler="regular"))

    def control(step: int) -> None:
        entities[0].set_actuation([math.sin(step / 5) + 1])

    return made, control, entities


@scene
def water(gs: Any) -> Made:
    """SPH: a box of liquid."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=10),
        sph_options=gs.options.SPHOptions(lower_bound=(-0.5, -0.5, 0), upper_bound=(0.5, 0.5, 1), particle_size=0.02),
    )
    made.add_entity(gs.morphs.Plane())
    body = gs.morphs.Box(pos=(0, 0, 0.4), size=(0.3, 0.3, 0.3))
    return built(made, [made.add_entity(body, material=gs.materials.SPH.Liquid(sampler="regular"))])


@scene
def water_divergence_free(gs: Any) -> Made:
    """SPH with the other solver of pressure."""
    bounds = {"lower_bound": (-0.5, -0.5, 0), "upper_bound": (0.5, 0.5, 1)}
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=10),
        sph_options=gs.options.SPHOptions(particle_size=0.03, pressure_solver="DFSPH", **bounds),
    )
    body = gs.morphs.Box(pos=(0, 0, 0.4), size=(0.3, 0.3, 0.3))
    return built(made, [made.add_entity(body, material=gs.materials.SPH.Liquid(sampler="regular"))])


@scene
def finite_elements(gs: Any) -> Made:
    """FEM: an elastic sphere, solved explicitly."""
    made = empty(gs, sim_options=gs.options.SimOptions(dt=5e-4, substeps=5), fem_options=gs.options.FEMOptions())
    ball = gs.morphs.Sphere(pos=(0, 0, 0.15), radius=0.1)
    return built(made, [made.add_entity(ball, material=gs.materials.FEM.Elastic(E=1e5, nu=0.4))])


@scene
def finite_elements_implicit(gs: Any) -> Made:
    """FEM: an elastic box, solved implicitly."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=1e-2, substeps=1),
        fem_options=gs.options.FEMOptions(use_implicit_solver=True, n_newton_iterations=2, n_pcg_iterations=100),
    )
    box = gs.morphs.Box(pos=(0, 0, 0.15), size=(0.1, 0.1, 0.1))
    return built(made, [made.add_entity(box, material=gs.materials.FEM.Elastic(E=1e5, nu=0.4, model="linear_corotated"))])


@scene
def cloth(gs: Any) -> Made:
    """PBD: cloth on the ground, held at a corner."""
    made = empty(gs, sim_options=gs.options.SimOptions(dt=4e-3, substeps=10), pbd_options=gs.options.PBDOptions())
    made.add_entity(gs.morphs.Plane())
    sheet = gs.morphs.Mesh(file="meshes/cloth.obj", scale=0.5, pos=(0, 0, 0.3), euler=(0, 0, 0))
    entity = made.add_entity(sheet, material=gs.materials.PBD.Cloth())
    made.build()
    entity.fix_particles(0)
    return made, uncontrolled, [entity]


@scene
def soft_body(gs: Any) -> Made:
    """PBD: an elastic box."""
    made = empty(gs, sim_options=gs.options.SimOptions(dt=4e-3, substeps=5), pbd_options=gs.options.PBDOptions())
    made.add_entity(gs.morphs.Plane())
    box = gs.morphs.Box(pos=(0, 0, 0.3), size=(0.2, 0.2, 0.2))
    return built(made, [made.add_entity(box, material=gs.materials.PBD.Elastic())])


@scene
def particles(gs: Any) -> Made:
    """PBD: a box of liquid and free particles."""
    bounds = {"lower_bound": (-0.5, -0.5, 0), "upper_bound": (0.5, 0.5, 1)}
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=2e-3),
        pbd_options=gs.options.PBDOptions(particle_size=0.02, **bounds),
    )
    wet = gs.morphs.Box(pos=(0, 0, 0.3), size=(0.2, 0.2, 0.2))
    dry = gs.morphs.Box(pos=(0.3, 0, 0.3), size=(0.1, 0.1, 0.1))
    return built(
        made,
        [
            made.add_entity(wet, material=gs.materials.PBD.Liquid(sampler="regular")),
            made.add_entity(dry, material=gs.materials.PBD.Particle(sampler="regular")),
        ],
    )


@scene
def smoke(gs: Any) -> Made:
    """Smoke from a jet, on a grid."""
    import quadrants as qd

    @qd.data_oriented
    class Jet:
        """Where smoke enters, and in which direction."""

        @qd.func
        def get_tan_dir(self, t: float):  # type: ignore[no-untyped-def]
            return qd.Vector([qd.sin(t), 0.0, 1.0])

        @qd.func
        def get_factor(self, i: int, j: int, k: int, dx: float, t: float):  # type: ignore[no-untyped-def]
            distance = (qd.Vector([i, j, k]) * dx - qd.Vector([0.5, 0.5, 0.2])).norm()
            return qd.exp(-80.0 * distance * distance)

    class Density:
        """The smoke as a state."""

        @property
        def value(self) -> Any:
            return made.sim.sf_solver.grid.q.to_numpy()

    made = empty(gs, sim_options=gs.options.SimOptions(dt=1e-2), sf_options=gs.options.SFOptions(res=32, solver_iters=20))
    made.sim.sf_solver.set_jets([Jet()])
    return built(made, [Density()])


@scene
def rigid_and_points(gs: Any) -> Made:
    """A rigid ball falls into an elastic box of the material point method."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=10),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.5, -0.5, 0), upper_bound=(0.5, 0.5, 0.75), grid_density=32),
    )
    made.add_entity(gs.morphs.Plane())
    ball = made.add_entity(gs.morphs.Sphere(radius=0.06, pos=(0, 0, 0.4)), material=gs.materials.Rigid(rho=400))
    body = made.add_entity(gs.morphs.Box(pos=(0, 0, 0.15), size=(0.3, 0.3, 0.2)), material=gs.materials.MPM.Elastic())
    return built(made, [ball, body])


@scene
def rigid_and_cloth(gs: Any) -> Made:
    """Cloth over a rigid box."""
    made = empty(gs, sim_options=gs.options.SimOptions(dt=4e-3, substeps=10))
    made.add_entity(gs.morphs.Plane())
    box = made.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.2), pos=(0, 0, 0.1)))
    sheet = gs.morphs.Mesh(file="meshes/cloth.obj", scale=0.4, pos=(0, 0, 0.35))
    return built(made, [box, made.add_entity(sheet, material=gs.materials.PBD.Cloth())])


@scene
def hybrid(gs: Any) -> Made:
    """A rigid skeleton inside a soft body."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=3e-3, substeps=10),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.6, -0.6, 0), upper_bound=(0.6, 0.6, 0.6), grid_density=32),
    )
    made.add_entity(gs.morphs.Plane())
    material = gs.materials.Hybrid(
        material_rigid=gs.materials.Rigid(gravity_compensation=1.0),
        material_soft=gs.materials.MPM.Muscle(E=1e4, nu=0.45, rho=1000.0, model="neohooken"),
        thickness=0.05,
        damping=1000.0,
    )
    body = gs.morphs.URDF(file="urdf/simple/two_link_arm.urdf", pos=(0, 0, 0.3), scale=0.2, fixed=True)
    entity = made.add_entity(body, material=material)
    return built(made, [entity.part_rigid, entity.part_soft])


@scene
def gradients(gs: Any) -> Made:
    """An elastic box of the material point method whose final position is differentiated by its first velocity."""
    import torch

    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=2e-3, substeps=10, requires_grad=True),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.5, -0.5, -0.5), upper_bound=(0.5, 0.5, 0.5), grid_density=32),
    )
    body = made.add_entity(gs.morphs.Box(pos=(0, 0, 0.1), size=(0.1, 0.1, 0.1)), material=gs.materials.MPM.Elastic())
    made.build()

    class Derivative:
        """The derivative as a state."""

        value = torch.zeros(3)

    def control(step: int) -> None:
        made.reset()
        velocity = torch.tensor([0.2, 0.0, 0.1], dtype=gs.tc_float, requires_grad=True)
        body.set_velocity(velocity)
        for _ in range(5):
            made.step()
        loss = (body.get_state().pos ** 2).sum()
        loss.backward()
        Derivative.value = velocity.grad

    return made, control, [Derivative]


# --- running


def values(entity: Entity) -> Any:
    """The state of an entity, as an array."""
    import numpy as np

    if hasattr(entity, "value"):
        found = entity.value
    elif hasattr(entity, "get_dofs_position"):
        found = entity.get_dofs_position()
    elif hasattr(entity, "read"):
        found = entity.read()
    elif hasattr(entity, "get_particles_pos"):
        found = entity.get_particles_pos()
    else:
        found = entity.get_state().pos
    if isinstance(found, tuple):
        return np.concatenate([np.asarray(each.cpu(), np.float64).ravel() for each in found])
    found = found.detach().cpu().numpy() if hasattr(found, "detach") else found
    return np.asarray(found, np.float64).ravel()


def simulate(name: str, precision: str) -> None:
    """Build a scene and step it, and print times and states as JSON."""
    begin = time.perf_counter()
    import genesis as gs

    gs.init(backend=gs.cpu, logging_level="error", precision=precision, seed=1)
    ready = time.perf_counter()
    made, control, entities = SCENES[name](gs)
    figures = {"import": ready - begin, "build": time.perf_counter() - ready}
    states = {}
    begin = time.perf_counter()
    for step in range(1, max(COMPARED) + 1):
        control(step)
        made.step()
        if step == 1:
            figures["first step"] = time.perf_counter() - begin
        if step in COMPARED:
            found = [values(entity) for entity in entities]
            states[step] = [[*each[:: max(1, len(each) // 60)].tolist(), float(each.sum())] for each in found]
    taken = []
    for _ in range(TIMES):
        first = time.process_time()
        for _ in range(STEPS_PER_TIME):
            step += 1
            control(step)
            made.step()
        taken.append((time.process_time() - first) / STEPS_PER_TIME)
    figures["step"] = statistics.median(taken)
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("\n" + json.dumps({"figures": figures, "states": states}), flush=True)
    os._exit(0)


def run(given: argparse.Namespace, contender: str, name: str, cache: Path) -> dict[str, Any]:
    """Run a scene in a process of its own."""
    own = cache / contender.lower()
    variables = {"XDG_CACHE_HOME": str(own), "QD_OFFLINE_CACHE_FILE_PATH": str(own / "quadrants"), "QD_OFFLINE_CACHE": "1"}
    command = [given.python, *CONTENDERS[contender], __file__, "--simulate", name, "--precision", given.precision]
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **variables}, check=False, timeout=given.timeout
        )
    except subprocess.TimeoutExpired:
        return {"error": f"still running after {given.timeout} s"}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        (cache / f"{contender}-{name}.txt").write_text(done.stdout + done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
        return {"error": next((line.strip() for line in reversed(lines) if "Error" in line), lines[-1].strip())}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found["figures"]["processor"] = after.ru_utime + after.ru_stime - begin.ru_utime - begin.ru_stime
    return found


def agreement(theirs: dict[str, Any], ours: dict[str, Any], tolerance: float) -> tuple[int, float]:
    """Until which compared step two runs agree, and the largest difference after the last one, relative to the largest."""
    until, worst, agrees = 0, 0.0, True
    for step in theirs:
        worst = 0.0
        for one, other in zip(theirs[step], ours[step], strict=True):
            size = max(map(abs, one[:-1]), default=0.0) or 1.0
            differences = [abs(a - b) for a, b in zip(one[:-1], other[:-1], strict=True)]
            worst = max(worst, max(differences, default=0.0) / size)
        agrees = agrees and worst <= tolerance
        until = int(step) if agrees else until
    return until, worst


def report(name: str, rounds: dict[str, list[dict[str, Any]]], precision: str) -> str:
    """A line of the table."""
    wrong = [f"{who}: {each['error']}" for who, several in rounds.items() for each in several if "error" in each]
    if wrong:
        return f"{name:26} {'; '.join(dict.fromkeys(wrong))}"
    theirs, ours = ([each["figures"] for each in rounds[who]] for who in CONTENDERS)
    until, worst = agreement(rounds["Quadrants"][-1]["states"], rounds["Samovar"][-1]["states"], TOLERANCE[precision])
    cells = [f"{name:26} agrees to step {until:2d} (last {worst:.1e})"]
    for what in ("processor", "build", "step", "memory"):
        for place, when in ((0, "first"), (-1, "last")):
            if place == 0 and what in ("step", "memory"):
                continue
            unit, scale = ("ms", 1e3) if what == "step" else ("MB", 1) if what == "memory" else ("s", 1)
            one, other = theirs[place][what] * scale, ours[place][what] * scale
            label = what if what in ("step", "memory") else f"{what} ({when})"
            cells.append(f"{label} {one:.4g} → {other:.4g} {unit} ({one / other:.2f}×)")
    return ", ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=",".join(SCENES))
    parser.add_argument("--rounds", type=int, default=2, help="the first is cold if the cache directory is new")
    parser.add_argument("--precision", choices=TOLERANCE, default="32")
    parser.add_argument("--cache", help="a directory for caches that are kept")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one run")
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--simulate", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.simulate:
        simulate(given.simulate, given.precision)
        return
    with tempfile.TemporaryDirectory() as directory:
        cache = Path(given.cache or directory)
        cache.mkdir(exist_ok=True, parents=True)
        figures = {}
        for name in given.only.split(","):
            rounds: dict[str, list[dict[str, Any]]] = {who: [] for who in given.contenders.split(",")}
            for number in range(given.rounds):
                for who in sorted(rounds, reverse=number % 2 == 1):
                    if not any("error" in each for each in rounds[who]):
                        rounds[who].append(run(given, who, name, cache))
            figures[name] = rounds
            if len(rounds) == len(CONTENDERS):
                print(report(name, rounds, given.precision), flush=True)
            else:
                found = [each.get("figures", each.get("error")) for several in rounds.values() for each in several]
                print(name, found, flush=True)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
