"""The robot: one object that holds the state, with forty kernels as methods.

A kernel calls a few funcs, and each func reads a dozen arrays or more. The kernels read from 24 to 114 of the 300 arrays.
"""

import robot_funcs as funcs
from robot_state import State

import samovar as sv


@sv.data_oriented
class Robot:
    def __init__(self, state: State, count: int, dt: float) -> None:
        self.links = state.links
        self.joints = state.joints
        self.dofs = state.dofs
        self.geometries = state.geometries
        self.contacts = state.contacts
        self.constraints = state.constraints
        self.actuators = state.actuators
        self.sensors = state.sensors
        self.controllers = state.controllers
        self.surroundings = state.surroundings
        self.count = count
        self.dt = dt

    @sv.kernel
    def advance_links(self) -> None:
        for i in range(self.count):
            funcs.move_links(self.links, i, self.dt)
            funcs.drive_links(self.links, i, self.dt)
            funcs.settle_links(self.links, i, self.dt)

    @sv.kernel
    def couple_links(self) -> None:
        for i in range(self.count):
            funcs.move_links(self.links, i, self.dt)
            funcs.move_joints(self.joints, i, self.dt)

    @sv.kernel
    def relax_links(self) -> None:
        for i in range(self.count):
            funcs.drive_links(self.links, i, self.dt)
            funcs.settle_links(self.links, i, self.dt)
            funcs.move_joints(self.joints, i, self.dt)
            funcs.drive_joints(self.joints, i, self.dt)

    @sv.kernel
    def sweep_links(self) -> None:
        for i in range(self.count):
            funcs.move_links(self.links, i, self.dt)
            funcs.drive_links(self.links, i, self.dt)
            funcs.settle_links(self.links, i, self.dt)
            funcs.move_joints(self.joints, i, self.dt)
            funcs.drive_joints(self.joints, i, self.dt)
            funcs.settle_joints(self.joints, i, self.dt)
            funcs.move_dofs(self.dofs, i, self.dt)
            funcs.drive_dofs(self.dofs, i, self.dt)
            funcs.settle_dofs(self.dofs, i, self.dt)
            funcs.settle_geometries(self.geometries, i, self.dt)
            funcs.drive_geometries(self.geometries, i, self.dt)

    @sv.kernel
    def advance_joints(self) -> None:
        for i in range(self.count):
            funcs.move_joints(self.joints, i, self.dt)
            funcs.drive_joints(self.joints, i, self.dt)
            funcs.settle_joints(self.joints, i, self.dt)

    @sv.kernel
    def couple_joints(self) -> None:
        for i in range(self.count):
            funcs.move_joints(self.joints, i, self.dt)
            funcs.move_dofs(self.dofs, i, self.dt)

    @sv.kernel
    def relax_joints(self) -> None:
        for i in range(self.count):
            funcs.drive_joints(self.joints, i, self.dt)
            funcs.settle_joints(self.joints, i, self.dt)
            funcs.move_dofs(self.dofs, i, self.dt)
            funcs.drive_dofs(self.dofs, i, self.dt)

    @sv.kernel
    def sweep_joints(self) -> None:
        for i in range(self.count):
            funcs.move_joints(self.joints, i, self.dt)
            funcs.drive_joints(self.joints, i, self.dt)
            funcs.settle_joints(self.joints, i, self.dt)
            funcs.move_dofs(self.dofs, i, self.dt)
            funcs.drive_dofs(self.dofs, i, self.dt)
            funcs.settle_dofs(self.dofs, i, self.dt)
            funcs.move_geometries(self.geometries, i, self.dt)
            funcs.drive_geometries(self.geometries, i, self.dt)
            funcs.settle_geometries(self.geometries, i, self.dt)
            funcs.settle_contacts(self.contacts, i, self.dt)
            funcs.drive_contacts(self.contacts, i, self.dt)

    @sv.kernel
    def advance_dofs(self) -> None:
        for i in range(self.count):
            funcs.move_dofs(self.dofs, i, self.dt)
            funcs.drive_dofs(self.dofs, i, self.dt)
            funcs.settle_dofs(self.dofs, i, self.dt)

    @sv.kernel
    def couple_dofs(self) -> None:
        for i in range(self.count):
            funcs.move_dofs(self.dofs, i, self.dt)
            funcs.move_geometries(self.geometries, i, self.dt)

    @sv.kernel
    def relax_dofs(self) -> None:
        for i in range(self.count):
            funcs.drive_dofs(self.dofs, i, self.dt)
            funcs.settle_dofs(self.dofs, i, self.dt)
            funcs.move_geometries(self.geometries, i, self.dt)
            funcs.drive_geometries(self.geometries, i, self.dt)

    @sv.kernel
    def sweep_dofs(self) -> None:
        for i in range(self.count):
            funcs.move_dofs(self.dofs, i, self.dt)
            funcs.drive_dofs(self.dofs, i, self.dt)
            funcs.settle_dofs(self.dofs, i, self.dt)
            funcs.move_geometries(self.geometries, i, self.dt)
            funcs.drive_geometries(self.geometries, i, self.dt)
            funcs.settle_geometries(self.geometries, i, self.dt)
            funcs.move_contacts(self.contacts, i, self.dt)
            funcs.drive_contacts(self.contacts, i, self.dt)
            funcs.settle_contacts(self.contacts, i, self.dt)
            funcs.settle_constraints(self.constraints, i, self.dt)
            funcs.drive_constraints(self.constraints, i, self.dt)

    @sv.kernel
    def advance_geometries(self) -> None:
        for i in range(self.count):
            funcs.move_geometries(self.geometries, i, self.dt)
            funcs.drive_geometries(self.geometries, i, self.dt)
            funcs.settle_geometries(self.geometries, i, self.dt)

    @sv.kernel
    def couple_geometries(self) -> None:
        for i in range(self.count):
            funcs.move_geometries(self.geometries, i, self.dt)
            funcs.move_contacts(self.contacts, i, self.dt)

    @sv.kernel
    def relax_geometries(self) -> None:
        for i in range(self.count):
            funcs.drive_geometries(self.geometries, i, self.dt)
            funcs.settle_geometries(self.geometries, i, self.dt)
            funcs.move_contacts(self.contacts, i, self.dt)
            funcs.drive_contacts(self.contacts, i, self.dt)

    @sv.kernel
    def sweep_geometries(self) -> None:
        for i in range(self.count):
            funcs.move_geometries(self.geometries, i, self.dt)
            funcs.drive_geometries(self.geometries, i, self.dt)
            funcs.settle_geometries(self.geometries, i, self.dt)
            funcs.move_contacts(self.contacts, i, self.dt)
            funcs.drive_contacts(self.contacts, i, self.dt)
            funcs.settle_contacts(self.contacts, i, self.dt)
            funcs.move_constraints(self.constraints, i, self.dt)
            funcs.drive_constraints(self.constraints, i, self.dt)
            funcs.settle_constraints(self.constraints, i, self.dt)
            funcs.settle_actuators(self.actuators, i, self.dt)
            funcs.drive_actuators(self.actuators, i, self.dt)

    @sv.kernel
    def advance_contacts(self) -> None:
        for i in range(self.count):
            funcs.move_contacts(self.contacts, i, self.dt)
            funcs.drive_contacts(self.contacts, i, self.dt)
            funcs.settle_contacts(self.contacts, i, self.dt)

    @sv.kernel
    def couple_contacts(self) -> None:
        for i in range(self.count):
            funcs.move_contacts(self.contacts, i, self.dt)
            funcs.move_constraints(self.constraints, i, self.dt)

    @sv.kernel
    def relax_contacts(self) -> None:
        for i in range(self.count):
            funcs.drive_contacts(self.contacts, i, self.dt)
            funcs.settle_contacts(self.contacts, i, self.dt)
            funcs.move_constraints(self.constraints, i, self.dt)
            funcs.drive_constraints(self.constraints, i, self.dt)

    @sv.kernel
    def sweep_contacts(self) -> None:
        for i in range(self.count):
            funcs.move_contacts(self.contacts, i, self.dt)
            funcs.drive_contacts(self.contacts, i, self.dt)
            funcs.settle_contacts(self.contacts, i, self.dt)
            funcs.move_constraints(self.constraints, i, self.dt)
            funcs.drive_constraints(self.constraints, i, self.dt)
            funcs.settle_constraints(self.constraints, i, self.dt)
            funcs.move_actuators(self.actuators, i, self.dt)
            funcs.drive_actuators(self.actuators, i, self.dt)
            funcs.settle_actuators(self.actuators, i, self.dt)
            funcs.settle_sensors(self.sensors, i, self.dt)
            funcs.drive_sensors(self.sensors, i, self.dt)

    @sv.kernel
    def advance_constraints(self) -> None:
        for i in range(self.count):
            funcs.move_constraints(self.constraints, i, self.dt)
            funcs.drive_constraints(self.constraints, i, self.dt)
            funcs.settle_constraints(self.constraints, i, self.dt)

    @sv.kernel
    def couple_constraints(self) -> None:
        for i in range(self.count):
            funcs.move_constraints(self.constraints, i, self.dt)
            funcs.move_actuators(self.actuators, i, self.dt)

    @sv.kernel
    def relax_constraints(self) -> None:
        for i in range(self.count):
            funcs.drive_constraints(self.constraints, i, self.dt)
            funcs.settle_constraints(self.constraints, i, self.dt)
            funcs.move_actuators(self.actuators, i, self.dt)
            funcs.drive_actuators(self.actuators, i, self.dt)

    @sv.kernel
    def sweep_constraints(self) -> None:
        for i in range(self.count):
            funcs.move_constraints(self.constraints, i, self.dt)
            funcs.drive_constraints(self.constraints, i, self.dt)
            funcs.settle_constraints(self.constraints, i, self.dt)
            funcs.move_actuators(self.actuators, i, self.dt)
            funcs.drive_actuators(self.actuators, i, self.dt)
            funcs.settle_actuators(self.actuators, i, self.dt)
            funcs.move_sensors(self.sensors, i, self.dt)
            funcs.drive_sensors(self.sensors, i, self.dt)
            funcs.settle_sensors(self.sensors, i, self.dt)
            funcs.settle_controllers(self.controllers, i, self.dt)
            funcs.drive_controllers(self.controllers, i, self.dt)

    @sv.kernel
    def advance_actuators(self) -> None:
        for i in range(self.count):
            funcs.move_actuators(self.actuators, i, self.dt)
            funcs.drive_actuators(self.actuators, i, self.dt)
            funcs.settle_actuators(self.actuators, i, self.dt)

    @sv.kernel
    def couple_actuators(self) -> None:
        for i in range(self.count):
            funcs.move_actuators(self.actuators, i, self.dt)
            funcs.move_sensors(self.sensors, i, self.dt)

    @sv.kernel
    def relax_actuators(self) -> None:
        for i in range(self.count):
            funcs.drive_actuators(self.actuators, i, self.dt)
            funcs.settle_actuators(self.actuators, i, self.dt)
            funcs.move_sensors(self.sensors, i, self.dt)
            funcs.drive_sensors(self.sensors, i, self.dt)

    @sv.kernel
    def sweep_actuators(self) -> None:
        for i in range(self.count):
            funcs.move_actuators(self.actuators, i, self.dt)
            funcs.drive_actuators(self.actuators, i, self.dt)
            funcs.settle_actuators(self.actuators, i, self.dt)
            funcs.move_sensors(self.sensors, i, self.dt)
            funcs.drive_sensors(self.sensors, i, self.dt)
            funcs.settle_sensors(self.sensors, i, self.dt)
            funcs.move_controllers(self.controllers, i, self.dt)
            funcs.drive_controllers(self.controllers, i, self.dt)
            funcs.settle_controllers(self.controllers, i, self.dt)
            funcs.settle_surroundings(self.surroundings, i, self.dt)
            funcs.drive_surroundings(self.surroundings, i, self.dt)

    @sv.kernel
    def advance_sensors(self) -> None:
        for i in range(self.count):
            funcs.move_sensors(self.sensors, i, self.dt)
            funcs.drive_sensors(self.sensors, i, self.dt)
            funcs.settle_sensors(self.sensors, i, self.dt)

    @sv.kernel
    def couple_sensors(self) -> None:
        for i in range(self.count):
            funcs.move_sensors(self.sensors, i, self.dt)
            funcs.move_controllers(self.controllers, i, self.dt)

    @sv.kernel
    def relax_sensors(self) -> None:
        for i in range(self.count):
            funcs.drive_sensors(self.sensors, i, self.dt)
            funcs.settle_sensors(self.sensors, i, self.dt)
            funcs.move_controllers(self.controllers, i, self.dt)
            funcs.drive_controllers(self.controllers, i, self.dt)

    @sv.kernel
    def sweep_sensors(self) -> None:
        for i in range(self.count):
            funcs.move_sensors(self.sensors, i, self.dt)
            funcs.drive_sensors(self.sensors, i, self.dt)
            funcs.settle_sensors(self.sensors, i, self.dt)
            funcs.move_controllers(self.controllers, i, self.dt)
            funcs.drive_controllers(self.controllers, i, self.dt)
            funcs.settle_controllers(self.controllers, i, self.dt)
            funcs.move_surroundings(self.surroundings, i, self.dt)
            funcs.drive_surroundings(self.surroundings, i, self.dt)
            funcs.settle_surroundings(self.surroundings, i, self.dt)
            funcs.settle_links(self.links, i, self.dt)
            funcs.drive_links(self.links, i, self.dt)

    @sv.kernel
    def advance_controllers(self) -> None:
        for i in range(self.count):
            funcs.move_controllers(self.controllers, i, self.dt)
            funcs.drive_controllers(self.controllers, i, self.dt)
            funcs.settle_controllers(self.controllers, i, self.dt)

    @sv.kernel
    def couple_controllers(self) -> None:
        for i in range(self.count):
            funcs.move_controllers(self.controllers, i, self.dt)
            funcs.move_surroundings(self.surroundings, i, self.dt)

    @sv.kernel
    def relax_controllers(self) -> None:
        for i in range(self.count):
            funcs.drive_controllers(self.controllers, i, self.dt)
            funcs.settle_controllers(self.controllers, i, self.dt)
            funcs.move_surroundings(self.surroundings, i, self.dt)
            funcs.drive_surroundings(self.surroundings, i, self.dt)

    @sv.kernel
    def sweep_controllers(self) -> None:
        for i in range(self.count):
            funcs.move_controllers(self.controllers, i, self.dt)
            funcs.drive_controllers(self.controllers, i, self.dt)
            funcs.settle_controllers(self.controllers, i, self.dt)
            funcs.move_surroundings(self.surroundings, i, self.dt)
            funcs.drive_surroundings(self.surroundings, i, self.dt)
            funcs.settle_surroundings(self.surroundings, i, self.dt)
            funcs.move_links(self.links, i, self.dt)
            funcs.drive_links(self.links, i, self.dt)
            funcs.settle_links(self.links, i, self.dt)
            funcs.settle_joints(self.joints, i, self.dt)
            funcs.drive_joints(self.joints, i, self.dt)

    @sv.kernel
    def advance_surroundings(self) -> None:
        for i in range(self.count):
            funcs.move_surroundings(self.surroundings, i, self.dt)
            funcs.drive_surroundings(self.surroundings, i, self.dt)
            funcs.settle_surroundings(self.surroundings, i, self.dt)

    @sv.kernel
    def couple_surroundings(self) -> None:
        for i in range(self.count):
            funcs.move_surroundings(self.surroundings, i, self.dt)
            funcs.move_links(self.links, i, self.dt)

    @sv.kernel
    def relax_surroundings(self) -> None:
        for i in range(self.count):
            funcs.drive_surroundings(self.surroundings, i, self.dt)
            funcs.settle_surroundings(self.surroundings, i, self.dt)
            funcs.move_links(self.links, i, self.dt)
            funcs.drive_links(self.links, i, self.dt)

    @sv.kernel
    def sweep_surroundings(self) -> None:
        for i in range(self.count):
            funcs.move_surroundings(self.surroundings, i, self.dt)
            funcs.drive_surroundings(self.surroundings, i, self.dt)
            funcs.settle_surroundings(self.surroundings, i, self.dt)
            funcs.move_links(self.links, i, self.dt)
            funcs.drive_links(self.links, i, self.dt)
            funcs.settle_links(self.links, i, self.dt)
            funcs.move_joints(self.joints, i, self.dt)
            funcs.drive_joints(self.joints, i, self.dt)
            funcs.settle_joints(self.joints, i, self.dt)
            funcs.settle_dofs(self.dofs, i, self.dt)
            funcs.drive_dofs(self.dofs, i, self.dt)

    def step(self) -> None:
        """One step of the simulation: every kernel once."""
        self.advance_links()
        self.couple_links()
        self.relax_links()
        self.sweep_links()
        self.advance_joints()
        self.couple_joints()
        self.relax_joints()
        self.sweep_joints()
        self.advance_dofs()
        self.couple_dofs()
        self.relax_dofs()
        self.sweep_dofs()
        self.advance_geometries()
        self.couple_geometries()
        self.relax_geometries()
        self.sweep_geometries()
        self.advance_contacts()
        self.couple_contacts()
        self.relax_contacts()
        self.sweep_contacts()
        self.advance_constraints()
        self.couple_constraints()
        self.relax_constraints()
        self.sweep_constraints()
        self.advance_actuators()
        self.couple_actuators()
        self.relax_actuators()
        self.sweep_actuators()
        self.advance_sensors()
        self.couple_sensors()
        self.relax_sensors()
        self.sweep_sensors()
        self.advance_controllers()
        self.couple_controllers()
        self.relax_controllers()
        self.sweep_controllers()
        self.advance_surroundings()
        self.couple_surroundings()
        self.relax_surroundings()
        self.sweep_surroundings()
