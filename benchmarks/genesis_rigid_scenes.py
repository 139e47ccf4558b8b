"""Scenes of Genesis with rigid bodies, sensors, and what moves them. See genesis_scenes.py."""

from __future__ import annotations

from typing import Any

from genesis_scene_table import Entity, Made, Scene, built, empty, scene, uncontrolled


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
def arms(gs: Any, count: int = 16) -> Made:
    """Several environments, each with its own targets of the joints."""
    import torch

    made = empty(gs)
    robot = add_arm(gs, made)
    made.build(n_envs=count, env_spacing=(1.0, 1.0))
    angles = torch.linspace(-1, 1, count)[:, None] * torch.linspace(0.2, 1, 9)[None, :]

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


@scene
def arms_256(gs: Any) -> Made:
    """256 environments, each with its own targets of the joints."""
    return arms(gs, 256)


@scene
def boxes_256(gs: Any) -> Made:
    """256 environments with boxes that start at their own heights."""
    import torch

    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    several = [made.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0.02 * i, 0, 0.06 + 0.11 * i))) for i in range(3)]
    made.build(n_envs=256, env_spacing=(1.0, 1.0))
    start = torch.zeros(256, 3)
    start[:, 2] = torch.linspace(0.5, 0.8, 256)
    several[-1].set_pos(start)
    return made, uncontrolled, several


@scene
def many_contacts(gs: Any) -> Made:
    """A heap of 36 boxes and spheres."""
    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    several = []
    for number in range(36):
        x, y, z = number % 3, number // 3 % 3, number // 9
        place = (0.11 * x + 0.01 * z, 0.11 * y, 0.06 + 0.11 * z)
        shape = gs.morphs.Sphere(radius=0.05, pos=place) if number % 2 else gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=place)
        several.append(made.add_entity(shape))
    return built(made, several)


@scene
def nonconvex(gs: Any) -> Made:
    """A mesh that is not made convex, and a ball inside."""
    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    file = {"file": "meshes/tank.obj", "scale": 5.0, "pos": (0.05, -0.2, 0.0), "euler": (90, 0, 90)}
    tank = made.add_entity(gs.morphs.Mesh(convexify=False, fixed=True, **file))
    ball = made.add_entity(gs.morphs.Sphere(radius=0.08, pos=(0.1, 0.0, 0.6)))
    return built(made, [tank, ball])


@scene
def humanoid(gs: Any) -> Made:
    """A body with collisions of its own parts, an elliptic cone of friction, and an implicit integrator."""
    rigid = gs.options.RigidOptions(
        enable_self_collision=True,
        friction_cone=gs.friction_cone.elliptic,
        integrator=gs.integrator.implicitfast,
        box_box_detection=True,
    )
    made = empty(gs, rigid_options=rigid)
    made.add_entity(gs.morphs.Plane())
    return built(made, [made.add_entity(gs.morphs.MJCF(file="xml/humanoid.xml"))])


@scene
def hibernation(gs: Any) -> Made:
    """Boxes that fall asleep."""
    made = empty(gs, rigid_options=gs.options.RigidOptions(use_hibernation=True))
    made.add_entity(gs.morphs.Plane())
    several = [made.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0.3 * i, 0, 0.05 + 0.02 * i))) for i in range(3)]
    return built(made, several)


@scene
def rolling(gs: Any) -> Made:
    """Torsional and rolling friction, restitution in time as in MuJoCo."""
    rigid = gs.options.RigidOptions(
        enable_torsional_friction=True, enable_rolling_friction=True, enable_mujoco_compatibility=True
    )
    made = empty(gs, rigid_options=rigid)
    made.add_entity(gs.morphs.Plane())
    ball = made.add_entity(gs.morphs.Sphere(radius=0.1, pos=(0, 0, 0.12)))
    made.build()
    ball.set_dofs_velocity([1.0, 0.2, 0.0, 0.0, 3.0, 1.0])
    return made, uncontrolled, [ball]


@scene
def linkages(gs: Any) -> Made:
    """A closed linkage with a weld, a rope of hinges, and a cable."""
    made = empty(gs)
    files = ("four_bar_linkage_weld", "rope_hinge")
    return built(
        made, [made.add_entity(gs.morphs.MJCF(file=f"xml/{file}.xml", pos=(i, 0, 1))) for i, file in enumerate(files)]
    )


@scene
def drones(gs: Any) -> Made:
    """Drones with their own speeds of rotors, in 16 environments, in wind."""
    made = empty(gs)
    made.add_entity(gs.morphs.Plane())
    drone = made.add_entity(gs.morphs.Drone(file="urdf/drones/cf2x.urdf", pos=(0, 0, 0.5)))
    made.build(n_envs=16)

    def control(step: int) -> None:
        drone.set_propellers_rpm([[14000.0 + 100 * i, 14600, 14600 - 50 * i, 14500] for i in range(16)])

    return made, control, [drone]


@scene
def touch(gs: Any) -> Made:
    """Sensors of touch, distance, temperature, torque and depth on an arm and a box."""
    made = empty(gs)
    robot = add_arm(gs, made)
    box = made.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.1), pos=(0.6, 0, 0.049)))
    ball = made.add_entity(gs.morphs.Sphere(radius=0.05, pos=(0.6, 0, 0.149)))
    places = [[0.02 * i, 0.02 * j, 0.05] for i in range(-1, 2) for j in range(-1, 2)]
    link = ball.base_link_idx
    probes: dict[str, Any] = {"entity_idx": box.idx, "probe_local_pos": places}
    clouds: dict[str, Any] = {**probes, "track_link_idx": (link,)}
    found = [
        made.add_sensor(gs.sensors.JointTorque(entity_idx=robot.idx)),
        made.add_sensor(gs.sensors.ContactProbe(**probes)),
        made.add_sensor(gs.sensors.ContactDepthProbe(**probes)),
        made.add_sensor(gs.sensors.KinematicTaxel(**probes)),
        made.add_sensor(gs.sensors.ElastomerTaxel(probe_local_normal=(0, 0, 1), n_sample_points=200, **clouds)),
        made.add_sensor(gs.sensors.ProximityTaxel(n_sample_points=200, **clouds)),
        made.add_sensor(gs.sensors.SurfaceDistanceProbe(**clouds)),
        made.add_sensor(
            gs.sensors.TemperatureGrid(
                entity_idx=box.idx,
                grid_size=(3, 3, 1),
                properties_dict={-1: gs.sensors.TemperatureProperties(base_temperature=40.0)},
            )
        ),
        made.add_sensor(gs.sensors.DepthCamera(pattern=gs.sensors.DepthCameraPattern(res=(16, 16)), entity_idx=box.idx)),
        made.add_sensor(gs.sensors.Raycaster(pattern=gs.sensors.GridPattern(), entity_idx=ball.idx)),
    ]
    made.build()

    def control(step: int) -> None:
        for sensor in found:
            sensor.read()

    return made, control, [robot, box, ball, *found[:8]]


@scene
def rigid_gradients(gs: Any) -> Made:
    """A box on the ground whose final position is differentiated by its first velocity."""
    import torch

    made = empty(gs, sim_options=gs.options.SimOptions(dt=1e-2, requires_grad=True))
    made.add_entity(gs.morphs.Plane())
    box = made.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0, 0, 0.3)))
    made.build()

    class Derivative:
        """The derivative as a state."""

        value = torch.zeros(6)

    def control(step: int) -> None:
        velocity = torch.tensor([0.2, 0.0, 0.1, 0.0, 0.3, 0.0], dtype=gs.tc_float, requires_grad=True)
        box.set_dofs_velocity(velocity)
        for _ in range(5):
            made.step()
        loss = (box.get_state().pos ** 2).sum()
        loss.backward()
        Derivative.value = velocity.grad
        made.reset()

    return made, control, [Derivative]
