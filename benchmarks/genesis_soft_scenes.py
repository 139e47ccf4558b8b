"""Scenes of Genesis with deformable bodies, fluids and smoke, alone and with rigid bodies. See genesis_scenes.py."""

from __future__ import annotations

from typing import Any

from genesis_scene_table import Made, built, empty, scene, uncontrolled


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
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.5, -0.5, -0.2), upper_bound=(0.5, 0.5, 0.8), grid_density=32),
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
        velocity = torch.tensor([0.2, 0.0, 0.1], dtype=gs.tc_float, requires_grad=True)
        body.set_velocity(velocity)
        for _ in range(5):
            made.step()
        loss = (body.get_state().pos ** 2).sum()
        loss.backward()
        Derivative.value = velocity.grad
        made.reset()

    return made, control, [Derivative]


@scene
def neo_hookean_sand_and_liquid(gs: Any) -> Made:
    """MPM: three materials in one grid, with contact by thin obstacles (CPIC)."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=10),
        mpm_options=gs.options.MPMOptions(
            lower_bound=(-0.5, -0.5, 0), upper_bound=(0.5, 0.5, 0.5), grid_density=32, enable_CPIC=True
        ),
    )
    made.add_entity(gs.morphs.Plane())
    made.add_entity(gs.morphs.Box(size=(0.3, 0.3, 0.04), pos=(0, 0, 0.1), fixed=True))
    materials = [
        gs.materials.MPM.Elastic(model="neohooken"),
        gs.materials.MPM.Sand(sampler="regular"),
        gs.materials.MPM.Liquid(sampler="regular", viscous=True),
    ]
    places = [(-0.2, 0, 0.3), (0, 0, 0.3), (0.2, 0, 0.3)]
    return built(
        made,
        [
            made.add_entity(gs.morphs.Box(pos=place, size=(0.12, 0.12, 0.12)), material=material)
            for place, material in zip(places, materials, strict=True)
        ],
    )


@scene
def emitters(gs: Any) -> Made:
    """Emitters of liquids of two solvers, in force fields."""
    bounds = {"lower_bound": (-0.5, -0.5, 0), "upper_bound": (0.5, 0.5, 1)}
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=10),
        mpm_options=gs.options.MPMOptions(grid_density=32, **bounds),
        sph_options=gs.options.SPHOptions(particle_size=0.02, **bounds),
    )
    made.add_entity(gs.morphs.Plane())
    several = [
        (made.add_emitter(gs.materials.MPM.Liquid(), max_particles=2000), (-0.2, 0, 0.5)),
        (made.add_emitter(gs.materials.SPH.Liquid(), max_particles=1000), (0.2, 0, 0.5)),
    ]
    fields = [
        gs.force_fields.Wind(direction=(1, 0, 0), strength=3.0, radius=1.0, center=(0, 0, 0.3)),
        gs.force_fields.Vortex(strength_perpendicular=2.0),
        gs.force_fields.Drag(linear=0.2),
        gs.force_fields.Turbulence(strength=1.0, seed=3),
    ]
    for field in fields:
        made.add_force_field(field)
        field.activate()
    made.build()

    def control(step: int) -> None:
        for emitter, place in several:
            emitter.emit("square", 0.08, pos=place, direction=(0, 0, -1), speed=1.0)

    return made, control, [emitter.entity for emitter, _ in several]


@scene
def rigid_and_water(gs: Any) -> Made:
    """SPH: a liquid around a rigid box, in two environments."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=10),
        sph_options=gs.options.SPHOptions(lower_bound=(-0.3, -0.3, 0), upper_bound=(0.3, 0.3, 1), particle_size=0.03),
    )
    made.add_entity(gs.morphs.Plane())
    box = made.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0, 0, 0.5)), material=gs.materials.Rigid(rho=500))
    wet = gs.morphs.Box(pos=(0, 0, 0.2), size=(0.4, 0.4, 0.3))
    return built(made, [box, made.add_entity(wet, material=gs.materials.SPH.Liquid(sampler="regular"))], n_envs=2)


@scene
def rope(gs: Any) -> Made:
    """PBD: a thin elastic rope, held at an end, and a rigid ball."""
    made = empty(gs, sim_options=gs.options.SimOptions(dt=4e-3, substeps=5), pbd_options=gs.options.PBDOptions())
    made.add_entity(gs.morphs.Plane())
    ball = made.add_entity(gs.morphs.Sphere(radius=0.05, pos=(0.1, 0, 0.2)))
    thread = gs.morphs.Cylinder(pos=(0, 0, 0.4), height=0.6, radius=0.02, euler=(0, 90, 0))
    entity = made.add_entity(thread, material=gs.materials.PBD.Elastic())
    made.build()
    entity.fix_particles([0])
    return made, uncontrolled, [ball, entity]


@scene
def muscle_elements(gs: Any) -> Made:
    """FEM: a muscle that is actuated, in two environments."""
    import math

    made = empty(gs, sim_options=gs.options.SimOptions(dt=5e-4, substeps=5), fem_options=gs.options.FEMOptions())
    material = gs.materials.FEM.Muscle(E=1e5, nu=0.4, n_groups=1, model="stable_neohookean")
    worm = made.add_entity(gs.morphs.Sphere(pos=(0, 0, 0.15), radius=0.1), material=material)
    made.build(n_envs=2)

    def control(step: int) -> None:
        worm.set_actuation(math.sin(step / 5) + 1)

    return made, control, [worm]


@scene
def sap_coupling(gs: Any) -> Made:
    """FEM and rigid bodies under the coupler of convex contact."""
    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=1 / 60, substeps=2),
        fem_options=gs.options.FEMOptions(use_implicit_solver=True),
        coupler_options=gs.options.SAPCouplerOptions(),
    )
    ball = gs.morphs.Sphere(pos=(0, 0, 0.11), radius=0.1)
    soft = made.add_entity(ball, material=gs.materials.FEM.Elastic(E=1e5, nu=0.4, model="linear_corotated"))
    box = made.add_entity(gs.morphs.Box(pos=(0, 0, 0.3), size=(0.1, 0.1, 0.1)))
    return built(made, [soft, box])


@scene
def tool_gradients(gs: Any) -> Made:
    """A tool pushes an elastic box, and the box's position is differentiated by the tool's velocity."""
    import torch

    made = empty(
        gs,
        sim_options=gs.options.SimOptions(dt=2e-3, substeps=10, requires_grad=True),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.5, -0.5, -0.5), upper_bound=(0.5, 0.5, 0.5), grid_density=32),
    )
    body = made.add_entity(gs.morphs.Box(pos=(0, 0, 0.1), size=(0.1, 0.1, 0.1)), material=gs.materials.MPM.Elastic())
    shape = gs.morphs.Mesh(file="meshes/sphere.obj", scale=0.05, pos=(-0.1, 0, 0.1))
    tool = made.add_entity(shape, material=gs.materials.Tool(friction=8.0, sdf_res=32))
    made.build()

    class Derivative:
        """The derivative as a state."""

        value = torch.zeros(3)

    def control(step: int) -> None:
        velocity = torch.tensor([[0.5, 0.0, 0.0]], dtype=gs.tc_float, requires_grad=True)
        for _ in range(5):
            tool.set_velocity(vel=velocity)
            made.step()
        loss = (body.get_state().pos ** 2).sum()
        loss.backward()
        Derivative.value = velocity.grad
        made.reset()

    return made, control, [Derivative]
