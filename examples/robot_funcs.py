"""What one element of each part of the robot does: three funcs for each of the ten records.

Every func takes a record and reads and writes some of its arrays; which of them become arguments of a kernel, the compiler
finds out.
"""

from robot_state import (
    Actuators,
    Constraints,
    Contacts,
    Controllers,
    Dofs,
    Geometries,
    Joints,
    Links,
    Sensors,
    Surroundings,
)

import samovar as sv


@sv.func
def move_links(links: Links, i: sv.i32, dt: sv.f32):
    links.position_x[i] = links.position_x[i] * 0.98 + (links.velocity_x[i] - links.acceleration_x[i]) * dt
    links.position_y[i] = links.position_y[i] * 0.98 + (links.velocity_y[i] - links.acceleration_y[i]) * dt
    links.position_z[i] = links.position_z[i] * 0.98 + (links.velocity_z[i] - links.acceleration_z[i]) * dt
    links.velocity_x[i] += (links.force_x[i] - links.velocity_x[i]) * dt
    links.velocity_y[i] += (links.force_y[i] - links.velocity_y[i]) * dt
    links.velocity_z[i] += (links.force_z[i] - links.velocity_z[i]) * dt


@sv.func
def drive_links(links: Links, i: sv.i32, dt: sv.f32):
    links.torque_x[i] = links.torque_x[i] * 0.98 + (links.acceleration_x[i] - links.spin_x[i]) * dt
    links.torque_y[i] = links.torque_y[i] * 0.98 + (links.acceleration_y[i] - links.spin_y[i]) * dt
    links.torque_z[i] = links.torque_z[i] * 0.98 + (links.acceleration_z[i] - links.spin_z[i]) * dt
    links.spin_x[i] += (links.orientation_x[i] - links.spin_x[i]) * dt
    links.spin_y[i] += (links.orientation_y[i] - links.spin_y[i]) * dt
    links.spin_z[i] += (links.orientation_z[i] - links.spin_z[i]) * dt


@sv.func
def settle_links(links: Links, i: sv.i32, dt: sv.f32):
    links.momentum_x[i] = links.momentum_x[i] * 0.98 + (links.load_x[i] - links.orientation_x[i]) * dt
    links.momentum_y[i] = links.momentum_y[i] * 0.98 + (links.load_y[i] - links.orientation_y[i]) * dt
    links.momentum_z[i] = links.momentum_z[i] * 0.98 + (links.load_z[i] - links.orientation_z[i]) * dt
    links.drag_x[i] += (links.force_x[i] - links.drag_x[i]) * dt
    links.drag_y[i] += (links.force_y[i] - links.drag_y[i]) * dt
    links.drag_z[i] += (links.force_z[i] - links.drag_z[i]) * dt


@sv.func
def move_joints(joints: Joints, i: sv.i32, dt: sv.f32):
    joints.angle_x[i] = joints.angle_x[i] * 0.98 + (joints.rate_x[i] - joints.acceleration_x[i]) * dt
    joints.angle_y[i] = joints.angle_y[i] * 0.98 + (joints.rate_y[i] - joints.acceleration_y[i]) * dt
    joints.angle_z[i] = joints.angle_z[i] * 0.98 + (joints.rate_z[i] - joints.acceleration_z[i]) * dt
    joints.rate_x[i] += (joints.torque_x[i] - joints.rate_x[i]) * dt
    joints.rate_y[i] += (joints.torque_y[i] - joints.rate_y[i]) * dt
    joints.rate_z[i] += (joints.torque_z[i] - joints.rate_z[i]) * dt


@sv.func
def drive_joints(joints: Joints, i: sv.i32, dt: sv.f32):
    joints.limit_x[i] = joints.limit_x[i] * 0.98 + (joints.acceleration_x[i] - joints.stiffness_x[i]) * dt
    joints.limit_y[i] = joints.limit_y[i] * 0.98 + (joints.acceleration_y[i] - joints.stiffness_y[i]) * dt
    joints.limit_z[i] = joints.limit_z[i] * 0.98 + (joints.acceleration_z[i] - joints.stiffness_z[i]) * dt
    joints.stiffness_x[i] += (joints.damping_x[i] - joints.stiffness_x[i]) * dt
    joints.stiffness_y[i] += (joints.damping_y[i] - joints.stiffness_y[i]) * dt
    joints.stiffness_z[i] += (joints.damping_z[i] - joints.stiffness_z[i]) * dt


@sv.func
def settle_joints(joints: Joints, i: sv.i32, dt: sv.f32):
    joints.target_x[i] = joints.target_x[i] * 0.98 + (joints.error_x[i] - joints.damping_x[i]) * dt
    joints.target_y[i] = joints.target_y[i] * 0.98 + (joints.error_y[i] - joints.damping_y[i]) * dt
    joints.target_z[i] = joints.target_z[i] * 0.98 + (joints.error_z[i] - joints.damping_z[i]) * dt
    joints.effort_x[i] += (joints.torque_x[i] - joints.effort_x[i]) * dt
    joints.effort_y[i] += (joints.torque_y[i] - joints.effort_y[i]) * dt
    joints.effort_z[i] += (joints.torque_z[i] - joints.effort_z[i]) * dt


@sv.func
def move_dofs(dofs: Dofs, i: sv.i32, dt: sv.f32):
    dofs.position_x[i] = dofs.position_x[i] * 0.98 + (dofs.velocity_x[i] - dofs.acceleration_x[i]) * dt
    dofs.position_y[i] = dofs.position_y[i] * 0.98 + (dofs.velocity_y[i] - dofs.acceleration_y[i]) * dt
    dofs.position_z[i] = dofs.position_z[i] * 0.98 + (dofs.velocity_z[i] - dofs.acceleration_z[i]) * dt
    dofs.velocity_x[i] += (dofs.force_x[i] - dofs.velocity_x[i]) * dt
    dofs.velocity_y[i] += (dofs.force_y[i] - dofs.velocity_y[i]) * dt
    dofs.velocity_z[i] += (dofs.force_z[i] - dofs.velocity_z[i]) * dt


@sv.func
def drive_dofs(dofs: Dofs, i: sv.i32, dt: sv.f32):
    dofs.bias_x[i] = dofs.bias_x[i] * 0.98 + (dofs.acceleration_x[i] - dofs.mass_x[i]) * dt
    dofs.bias_y[i] = dofs.bias_y[i] * 0.98 + (dofs.acceleration_y[i] - dofs.mass_y[i]) * dt
    dofs.bias_z[i] = dofs.bias_z[i] * 0.98 + (dofs.acceleration_z[i] - dofs.mass_z[i]) * dt
    dofs.mass_x[i] += (dofs.inverse_x[i] - dofs.mass_x[i]) * dt
    dofs.mass_y[i] += (dofs.inverse_y[i] - dofs.mass_y[i]) * dt
    dofs.mass_z[i] += (dofs.inverse_z[i] - dofs.mass_z[i]) * dt


@sv.func
def settle_dofs(dofs: Dofs, i: sv.i32, dt: sv.f32):
    dofs.target_x[i] = dofs.target_x[i] * 0.98 + (dofs.gain_x[i] - dofs.inverse_x[i]) * dt
    dofs.target_y[i] = dofs.target_y[i] * 0.98 + (dofs.gain_y[i] - dofs.inverse_y[i]) * dt
    dofs.target_z[i] = dofs.target_z[i] * 0.98 + (dofs.gain_z[i] - dofs.inverse_z[i]) * dt
    dofs.output_x[i] += (dofs.force_x[i] - dofs.output_x[i]) * dt
    dofs.output_y[i] += (dofs.force_y[i] - dofs.output_y[i]) * dt
    dofs.output_z[i] += (dofs.force_z[i] - dofs.output_z[i]) * dt


@sv.func
def move_geometries(geometries: Geometries, i: sv.i32, dt: sv.f32):
    geometries.centre_x[i] = geometries.centre_x[i] * 0.98 + (geometries.extent_x[i] - geometries.normal_x[i]) * dt
    geometries.centre_y[i] = geometries.centre_y[i] * 0.98 + (geometries.extent_y[i] - geometries.normal_y[i]) * dt
    geometries.centre_z[i] = geometries.centre_z[i] * 0.98 + (geometries.extent_z[i] - geometries.normal_z[i]) * dt
    geometries.extent_x[i] += (geometries.offset_x[i] - geometries.extent_x[i]) * dt
    geometries.extent_y[i] += (geometries.offset_y[i] - geometries.extent_y[i]) * dt
    geometries.extent_z[i] += (geometries.offset_z[i] - geometries.extent_z[i]) * dt


@sv.func
def drive_geometries(geometries: Geometries, i: sv.i32, dt: sv.f32):
    geometries.margin_x[i] = geometries.margin_x[i] * 0.98 + (geometries.normal_x[i] - geometries.friction_x[i]) * dt
    geometries.margin_y[i] = geometries.margin_y[i] * 0.98 + (geometries.normal_y[i] - geometries.friction_y[i]) * dt
    geometries.margin_z[i] = geometries.margin_z[i] * 0.98 + (geometries.normal_z[i] - geometries.friction_z[i]) * dt
    geometries.friction_x[i] += (geometries.bounce_x[i] - geometries.friction_x[i]) * dt
    geometries.friction_y[i] += (geometries.bounce_y[i] - geometries.friction_y[i]) * dt
    geometries.friction_z[i] += (geometries.bounce_z[i] - geometries.friction_z[i]) * dt


@sv.func
def settle_geometries(geometries: Geometries, i: sv.i32, dt: sv.f32):
    geometries.density_x[i] = geometries.density_x[i] * 0.98 + (geometries.pressure_x[i] - geometries.bounce_x[i]) * dt
    geometries.density_y[i] = geometries.density_y[i] * 0.98 + (geometries.pressure_y[i] - geometries.bounce_y[i]) * dt
    geometries.density_z[i] = geometries.density_z[i] * 0.98 + (geometries.pressure_z[i] - geometries.bounce_z[i]) * dt
    geometries.shear_x[i] += (geometries.offset_x[i] - geometries.shear_x[i]) * dt
    geometries.shear_y[i] += (geometries.offset_y[i] - geometries.shear_y[i]) * dt
    geometries.shear_z[i] += (geometries.offset_z[i] - geometries.shear_z[i]) * dt


@sv.func
def move_contacts(contacts: Contacts, i: sv.i32, dt: sv.f32):
    contacts.point_x[i] = contacts.point_x[i] * 0.98 + (contacts.normal_x[i] - contacts.depth_x[i]) * dt
    contacts.point_y[i] = contacts.point_y[i] * 0.98 + (contacts.normal_y[i] - contacts.depth_y[i]) * dt
    contacts.point_z[i] = contacts.point_z[i] * 0.98 + (contacts.normal_z[i] - contacts.depth_z[i]) * dt
    contacts.normal_x[i] += (contacts.force_x[i] - contacts.normal_x[i]) * dt
    contacts.normal_y[i] += (contacts.force_y[i] - contacts.normal_y[i]) * dt
    contacts.normal_z[i] += (contacts.force_z[i] - contacts.normal_z[i]) * dt


@sv.func
def drive_contacts(contacts: Contacts, i: sv.i32, dt: sv.f32):
    contacts.slip_x[i] = contacts.slip_x[i] * 0.98 + (contacts.depth_x[i] - contacts.impulse_x[i]) * dt
    contacts.slip_y[i] = contacts.slip_y[i] * 0.98 + (contacts.depth_y[i] - contacts.impulse_y[i]) * dt
    contacts.slip_z[i] = contacts.slip_z[i] * 0.98 + (contacts.depth_z[i] - contacts.impulse_z[i]) * dt
    contacts.impulse_x[i] += (contacts.friction_x[i] - contacts.impulse_x[i]) * dt
    contacts.impulse_y[i] += (contacts.friction_y[i] - contacts.impulse_y[i]) * dt
    contacts.impulse_z[i] += (contacts.friction_z[i] - contacts.impulse_z[i]) * dt


@sv.func
def settle_contacts(contacts: Contacts, i: sv.i32, dt: sv.f32):
    contacts.bias_x[i] = contacts.bias_x[i] * 0.98 + (contacts.warm_x[i] - contacts.friction_x[i]) * dt
    contacts.bias_y[i] = contacts.bias_y[i] * 0.98 + (contacts.warm_y[i] - contacts.friction_y[i]) * dt
    contacts.bias_z[i] = contacts.bias_z[i] * 0.98 + (contacts.warm_z[i] - contacts.friction_z[i]) * dt
    contacts.residual_x[i] += (contacts.force_x[i] - contacts.residual_x[i]) * dt
    contacts.residual_y[i] += (contacts.force_y[i] - contacts.residual_y[i]) * dt
    contacts.residual_z[i] += (contacts.force_z[i] - contacts.residual_z[i]) * dt


@sv.func
def move_constraints(constraints: Constraints, i: sv.i32, dt: sv.f32):
    constraints.jacobian_x[i] = constraints.jacobian_x[i] * 0.98 + (constraints.bias_x[i] - constraints.impulse_x[i]) * dt
    constraints.jacobian_y[i] = constraints.jacobian_y[i] * 0.98 + (constraints.bias_y[i] - constraints.impulse_y[i]) * dt
    constraints.jacobian_z[i] = constraints.jacobian_z[i] * 0.98 + (constraints.bias_z[i] - constraints.impulse_z[i]) * dt
    constraints.bias_x[i] += (constraints.residual_x[i] - constraints.bias_x[i]) * dt
    constraints.bias_y[i] += (constraints.residual_y[i] - constraints.bias_y[i]) * dt
    constraints.bias_z[i] += (constraints.residual_z[i] - constraints.bias_z[i]) * dt


@sv.func
def drive_constraints(constraints: Constraints, i: sv.i32, dt: sv.f32):
    constraints.scale_x[i] = constraints.scale_x[i] * 0.98 + (constraints.impulse_x[i] - constraints.compliance_x[i]) * dt
    constraints.scale_y[i] = constraints.scale_y[i] * 0.98 + (constraints.impulse_y[i] - constraints.compliance_y[i]) * dt
    constraints.scale_z[i] = constraints.scale_z[i] * 0.98 + (constraints.impulse_z[i] - constraints.compliance_z[i]) * dt
    constraints.compliance_x[i] += (constraints.gap_x[i] - constraints.compliance_x[i]) * dt
    constraints.compliance_y[i] += (constraints.gap_y[i] - constraints.compliance_y[i]) * dt
    constraints.compliance_z[i] += (constraints.gap_z[i] - constraints.compliance_z[i]) * dt


@sv.func
def settle_constraints(constraints: Constraints, i: sv.i32, dt: sv.f32):
    constraints.force_x[i] = constraints.force_x[i] * 0.98 + (constraints.step_x[i] - constraints.gap_x[i]) * dt
    constraints.force_y[i] = constraints.force_y[i] * 0.98 + (constraints.step_y[i] - constraints.gap_y[i]) * dt
    constraints.force_z[i] = constraints.force_z[i] * 0.98 + (constraints.step_z[i] - constraints.gap_z[i]) * dt
    constraints.ratio_x[i] += (constraints.residual_x[i] - constraints.ratio_x[i]) * dt
    constraints.ratio_y[i] += (constraints.residual_y[i] - constraints.ratio_y[i]) * dt
    constraints.ratio_z[i] += (constraints.residual_z[i] - constraints.ratio_z[i]) * dt


@sv.func
def move_actuators(actuators: Actuators, i: sv.i32, dt: sv.f32):
    actuators.command_x[i] = actuators.command_x[i] * 0.98 + (actuators.current_x[i] - actuators.voltage_x[i]) * dt
    actuators.command_y[i] = actuators.command_y[i] * 0.98 + (actuators.current_y[i] - actuators.voltage_y[i]) * dt
    actuators.command_z[i] = actuators.command_z[i] * 0.98 + (actuators.current_z[i] - actuators.voltage_z[i]) * dt
    actuators.current_x[i] += (actuators.torque_x[i] - actuators.current_x[i]) * dt
    actuators.current_y[i] += (actuators.torque_y[i] - actuators.current_y[i]) * dt
    actuators.current_z[i] += (actuators.torque_z[i] - actuators.current_z[i]) * dt


@sv.func
def drive_actuators(actuators: Actuators, i: sv.i32, dt: sv.f32):
    actuators.rate_x[i] = actuators.rate_x[i] * 0.98 + (actuators.voltage_x[i] - actuators.gain_x[i]) * dt
    actuators.rate_y[i] = actuators.rate_y[i] * 0.98 + (actuators.voltage_y[i] - actuators.gain_y[i]) * dt
    actuators.rate_z[i] = actuators.rate_z[i] * 0.98 + (actuators.voltage_z[i] - actuators.gain_z[i]) * dt
    actuators.gain_x[i] += (actuators.limit_x[i] - actuators.gain_x[i]) * dt
    actuators.gain_y[i] += (actuators.limit_y[i] - actuators.gain_y[i]) * dt
    actuators.gain_z[i] += (actuators.limit_z[i] - actuators.gain_z[i]) * dt


@sv.func
def settle_actuators(actuators: Actuators, i: sv.i32, dt: sv.f32):
    actuators.heat_x[i] = actuators.heat_x[i] * 0.98 + (actuators.loss_x[i] - actuators.limit_x[i]) * dt
    actuators.heat_y[i] = actuators.heat_y[i] * 0.98 + (actuators.loss_y[i] - actuators.limit_y[i]) * dt
    actuators.heat_z[i] = actuators.heat_z[i] * 0.98 + (actuators.loss_z[i] - actuators.limit_z[i]) * dt
    actuators.state_x[i] += (actuators.torque_x[i] - actuators.state_x[i]) * dt
    actuators.state_y[i] += (actuators.torque_y[i] - actuators.state_y[i]) * dt
    actuators.state_z[i] += (actuators.torque_z[i] - actuators.state_z[i]) * dt


@sv.func
def move_sensors(sensors: Sensors, i: sv.i32, dt: sv.f32):
    sensors.reading_x[i] = sensors.reading_x[i] * 0.98 + (sensors.bias_x[i] - sensors.noise_x[i]) * dt
    sensors.reading_y[i] = sensors.reading_y[i] * 0.98 + (sensors.bias_y[i] - sensors.noise_y[i]) * dt
    sensors.reading_z[i] = sensors.reading_z[i] * 0.98 + (sensors.bias_z[i] - sensors.noise_z[i]) * dt
    sensors.bias_x[i] += (sensors.filter_x[i] - sensors.bias_x[i]) * dt
    sensors.bias_y[i] += (sensors.filter_y[i] - sensors.bias_y[i]) * dt
    sensors.bias_z[i] += (sensors.filter_z[i] - sensors.bias_z[i]) * dt


@sv.func
def drive_sensors(sensors: Sensors, i: sv.i32, dt: sv.f32):
    sensors.rate_x[i] = sensors.rate_x[i] * 0.98 + (sensors.noise_x[i] - sensors.gain_x[i]) * dt
    sensors.rate_y[i] = sensors.rate_y[i] * 0.98 + (sensors.noise_y[i] - sensors.gain_y[i]) * dt
    sensors.rate_z[i] = sensors.rate_z[i] * 0.98 + (sensors.noise_z[i] - sensors.gain_z[i]) * dt
    sensors.gain_x[i] += (sensors.offset_x[i] - sensors.gain_x[i]) * dt
    sensors.gain_y[i] += (sensors.offset_y[i] - sensors.gain_y[i]) * dt
    sensors.gain_z[i] += (sensors.offset_z[i] - sensors.gain_z[i]) * dt


@sv.func
def settle_sensors(sensors: Sensors, i: sv.i32, dt: sv.f32):
    sensors.window_x[i] = sensors.window_x[i] * 0.98 + (sensors.delay_x[i] - sensors.offset_x[i]) * dt
    sensors.window_y[i] = sensors.window_y[i] * 0.98 + (sensors.delay_y[i] - sensors.offset_y[i]) * dt
    sensors.window_z[i] = sensors.window_z[i] * 0.98 + (sensors.delay_z[i] - sensors.offset_z[i]) * dt
    sensors.estimate_x[i] += (sensors.filter_x[i] - sensors.estimate_x[i]) * dt
    sensors.estimate_y[i] += (sensors.filter_y[i] - sensors.estimate_y[i]) * dt
    sensors.estimate_z[i] += (sensors.filter_z[i] - sensors.estimate_z[i]) * dt


@sv.func
def move_controllers(controllers: Controllers, i: sv.i32, dt: sv.f32):
    controllers.reference_x[i] = controllers.reference_x[i] * 0.98 + (controllers.error_x[i] - controllers.integral_x[i]) * dt
    controllers.reference_y[i] = controllers.reference_y[i] * 0.98 + (controllers.error_y[i] - controllers.integral_y[i]) * dt
    controllers.reference_z[i] = controllers.reference_z[i] * 0.98 + (controllers.error_z[i] - controllers.integral_z[i]) * dt
    controllers.error_x[i] += (controllers.derivative_x[i] - controllers.error_x[i]) * dt
    controllers.error_y[i] += (controllers.derivative_y[i] - controllers.error_y[i]) * dt
    controllers.error_z[i] += (controllers.derivative_z[i] - controllers.error_z[i]) * dt


@sv.func
def drive_controllers(controllers: Controllers, i: sv.i32, dt: sv.f32):
    controllers.proportional_x[i] = controllers.proportional_x[i] * 0.98 + (controllers.integral_x[i] - controllers.output_x[i]) * dt
    controllers.proportional_y[i] = controllers.proportional_y[i] * 0.98 + (controllers.integral_y[i] - controllers.output_y[i]) * dt
    controllers.proportional_z[i] = controllers.proportional_z[i] * 0.98 + (controllers.integral_z[i] - controllers.output_z[i]) * dt
    controllers.output_x[i] += (controllers.limit_x[i] - controllers.output_x[i]) * dt
    controllers.output_y[i] += (controllers.limit_y[i] - controllers.output_y[i]) * dt
    controllers.output_z[i] += (controllers.limit_z[i] - controllers.output_z[i]) * dt


@sv.func
def settle_controllers(controllers: Controllers, i: sv.i32, dt: sv.f32):
    controllers.feed_x[i] = controllers.feed_x[i] * 0.98 + (controllers.rate_x[i] - controllers.limit_x[i]) * dt
    controllers.feed_y[i] = controllers.feed_y[i] * 0.98 + (controllers.rate_y[i] - controllers.limit_y[i]) * dt
    controllers.feed_z[i] = controllers.feed_z[i] * 0.98 + (controllers.rate_z[i] - controllers.limit_z[i]) * dt
    controllers.blend_x[i] += (controllers.derivative_x[i] - controllers.blend_x[i]) * dt
    controllers.blend_y[i] += (controllers.derivative_y[i] - controllers.blend_y[i]) * dt
    controllers.blend_z[i] += (controllers.derivative_z[i] - controllers.blend_z[i]) * dt


@sv.func
def move_surroundings(surroundings: Surroundings, i: sv.i32, dt: sv.f32):
    surroundings.wind_x[i] = surroundings.wind_x[i] * 0.98 + (surroundings.gravity_x[i] - surroundings.density_x[i]) * dt
    surroundings.wind_y[i] = surroundings.wind_y[i] * 0.98 + (surroundings.gravity_y[i] - surroundings.density_y[i]) * dt
    surroundings.wind_z[i] = surroundings.wind_z[i] * 0.98 + (surroundings.gravity_z[i] - surroundings.density_z[i]) * dt
    surroundings.gravity_x[i] += (surroundings.height_x[i] - surroundings.gravity_x[i]) * dt
    surroundings.gravity_y[i] += (surroundings.height_y[i] - surroundings.gravity_y[i]) * dt
    surroundings.gravity_z[i] += (surroundings.height_z[i] - surroundings.gravity_z[i]) * dt


@sv.func
def drive_surroundings(surroundings: Surroundings, i: sv.i32, dt: sv.f32):
    surroundings.slope_x[i] = surroundings.slope_x[i] * 0.98 + (surroundings.density_x[i] - surroundings.flow_x[i]) * dt
    surroundings.slope_y[i] = surroundings.slope_y[i] * 0.98 + (surroundings.density_y[i] - surroundings.flow_y[i]) * dt
    surroundings.slope_z[i] = surroundings.slope_z[i] * 0.98 + (surroundings.density_z[i] - surroundings.flow_z[i]) * dt
    surroundings.flow_x[i] += (surroundings.heat_x[i] - surroundings.flow_x[i]) * dt
    surroundings.flow_y[i] += (surroundings.heat_y[i] - surroundings.flow_y[i]) * dt
    surroundings.flow_z[i] += (surroundings.heat_z[i] - surroundings.flow_z[i]) * dt


@sv.func
def settle_surroundings(surroundings: Surroundings, i: sv.i32, dt: sv.f32):
    surroundings.pressure_x[i] = surroundings.pressure_x[i] * 0.98 + (surroundings.drift_x[i] - surroundings.heat_x[i]) * dt
    surroundings.pressure_y[i] = surroundings.pressure_y[i] * 0.98 + (surroundings.drift_y[i] - surroundings.heat_y[i]) * dt
    surroundings.pressure_z[i] = surroundings.pressure_z[i] * 0.98 + (surroundings.drift_z[i] - surroundings.heat_z[i]) * dt
    surroundings.noise_x[i] += (surroundings.height_x[i] - surroundings.noise_x[i]) * dt
    surroundings.noise_y[i] += (surroundings.height_y[i] - surroundings.noise_y[i]) * dt
    surroundings.noise_z[i] += (surroundings.height_z[i] - surroundings.noise_z[i]) * dt
