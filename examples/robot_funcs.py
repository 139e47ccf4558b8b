"""The physics of one element: three funcs for each of the ten records.

Each func takes a record and reads and writes some of its arrays. The compiler finds out which arrays become arguments of a
kernel.
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
def move_links(part: Links, i: sv.i32, dt: sv.f32) -> None:
    part.position_x[i] = part.position_x[i] * 0.98 + (part.velocity_x[i] - part.acceleration_x[i]) * dt
    part.position_y[i] = part.position_y[i] * 0.98 + (part.velocity_y[i] - part.acceleration_y[i]) * dt
    part.position_z[i] = part.position_z[i] * 0.98 + (part.velocity_z[i] - part.acceleration_z[i]) * dt
    part.velocity_x[i] += (part.force_x[i] - part.velocity_x[i]) * dt
    part.velocity_y[i] += (part.force_y[i] - part.velocity_y[i]) * dt
    part.velocity_z[i] += (part.force_z[i] - part.velocity_z[i]) * dt


@sv.func
def drive_links(part: Links, i: sv.i32, dt: sv.f32) -> None:
    part.torque_x[i] = part.torque_x[i] * 0.98 + (part.acceleration_x[i] - part.spin_x[i]) * dt
    part.torque_y[i] = part.torque_y[i] * 0.98 + (part.acceleration_y[i] - part.spin_y[i]) * dt
    part.torque_z[i] = part.torque_z[i] * 0.98 + (part.acceleration_z[i] - part.spin_z[i]) * dt
    part.spin_x[i] += (part.orientation_x[i] - part.spin_x[i]) * dt
    part.spin_y[i] += (part.orientation_y[i] - part.spin_y[i]) * dt
    part.spin_z[i] += (part.orientation_z[i] - part.spin_z[i]) * dt


@sv.func
def settle_links(part: Links, i: sv.i32, dt: sv.f32) -> None:
    part.momentum_x[i] = part.momentum_x[i] * 0.98 + (part.load_x[i] - part.orientation_x[i]) * dt
    part.momentum_y[i] = part.momentum_y[i] * 0.98 + (part.load_y[i] - part.orientation_y[i]) * dt
    part.momentum_z[i] = part.momentum_z[i] * 0.98 + (part.load_z[i] - part.orientation_z[i]) * dt
    part.drag_x[i] += (part.force_x[i] - part.drag_x[i]) * dt
    part.drag_y[i] += (part.force_y[i] - part.drag_y[i]) * dt
    part.drag_z[i] += (part.force_z[i] - part.drag_z[i]) * dt


@sv.func
def move_joints(part: Joints, i: sv.i32, dt: sv.f32) -> None:
    part.angle_x[i] = part.angle_x[i] * 0.98 + (part.rate_x[i] - part.acceleration_x[i]) * dt
    part.angle_y[i] = part.angle_y[i] * 0.98 + (part.rate_y[i] - part.acceleration_y[i]) * dt
    part.angle_z[i] = part.angle_z[i] * 0.98 + (part.rate_z[i] - part.acceleration_z[i]) * dt
    part.rate_x[i] += (part.torque_x[i] - part.rate_x[i]) * dt
    part.rate_y[i] += (part.torque_y[i] - part.rate_y[i]) * dt
    part.rate_z[i] += (part.torque_z[i] - part.rate_z[i]) * dt


@sv.func
def drive_joints(part: Joints, i: sv.i32, dt: sv.f32) -> None:
    part.limit_x[i] = part.limit_x[i] * 0.98 + (part.acceleration_x[i] - part.stiffness_x[i]) * dt
    part.limit_y[i] = part.limit_y[i] * 0.98 + (part.acceleration_y[i] - part.stiffness_y[i]) * dt
    part.limit_z[i] = part.limit_z[i] * 0.98 + (part.acceleration_z[i] - part.stiffness_z[i]) * dt
    part.stiffness_x[i] += (part.damping_x[i] - part.stiffness_x[i]) * dt
    part.stiffness_y[i] += (part.damping_y[i] - part.stiffness_y[i]) * dt
    part.stiffness_z[i] += (part.damping_z[i] - part.stiffness_z[i]) * dt


@sv.func
def settle_joints(part: Joints, i: sv.i32, dt: sv.f32) -> None:
    part.target_x[i] = part.target_x[i] * 0.98 + (part.error_x[i] - part.damping_x[i]) * dt
    part.target_y[i] = part.target_y[i] * 0.98 + (part.error_y[i] - part.damping_y[i]) * dt
    part.target_z[i] = part.target_z[i] * 0.98 + (part.error_z[i] - part.damping_z[i]) * dt
    part.effort_x[i] += (part.torque_x[i] - part.effort_x[i]) * dt
    part.effort_y[i] += (part.torque_y[i] - part.effort_y[i]) * dt
    part.effort_z[i] += (part.torque_z[i] - part.effort_z[i]) * dt


@sv.func
def move_dofs(part: Dofs, i: sv.i32, dt: sv.f32) -> None:
    part.position_x[i] = part.position_x[i] * 0.98 + (part.velocity_x[i] - part.acceleration_x[i]) * dt
    part.position_y[i] = part.position_y[i] * 0.98 + (part.velocity_y[i] - part.acceleration_y[i]) * dt
    part.position_z[i] = part.position_z[i] * 0.98 + (part.velocity_z[i] - part.acceleration_z[i]) * dt
    part.velocity_x[i] += (part.force_x[i] - part.velocity_x[i]) * dt
    part.velocity_y[i] += (part.force_y[i] - part.velocity_y[i]) * dt
    part.velocity_z[i] += (part.force_z[i] - part.velocity_z[i]) * dt


@sv.func
def drive_dofs(part: Dofs, i: sv.i32, dt: sv.f32) -> None:
    part.bias_x[i] = part.bias_x[i] * 0.98 + (part.acceleration_x[i] - part.mass_x[i]) * dt
    part.bias_y[i] = part.bias_y[i] * 0.98 + (part.acceleration_y[i] - part.mass_y[i]) * dt
    part.bias_z[i] = part.bias_z[i] * 0.98 + (part.acceleration_z[i] - part.mass_z[i]) * dt
    part.mass_x[i] += (part.inverse_x[i] - part.mass_x[i]) * dt
    part.mass_y[i] += (part.inverse_y[i] - part.mass_y[i]) * dt
    part.mass_z[i] += (part.inverse_z[i] - part.mass_z[i]) * dt


@sv.func
def settle_dofs(part: Dofs, i: sv.i32, dt: sv.f32) -> None:
    part.target_x[i] = part.target_x[i] * 0.98 + (part.gain_x[i] - part.inverse_x[i]) * dt
    part.target_y[i] = part.target_y[i] * 0.98 + (part.gain_y[i] - part.inverse_y[i]) * dt
    part.target_z[i] = part.target_z[i] * 0.98 + (part.gain_z[i] - part.inverse_z[i]) * dt
    part.output_x[i] += (part.force_x[i] - part.output_x[i]) * dt
    part.output_y[i] += (part.force_y[i] - part.output_y[i]) * dt
    part.output_z[i] += (part.force_z[i] - part.output_z[i]) * dt


@sv.func
def move_geometries(part: Geometries, i: sv.i32, dt: sv.f32) -> None:
    part.center_x[i] = part.center_x[i] * 0.98 + (part.extent_x[i] - part.normal_x[i]) * dt
    part.center_y[i] = part.center_y[i] * 0.98 + (part.extent_y[i] - part.normal_y[i]) * dt
    part.center_z[i] = part.center_z[i] * 0.98 + (part.extent_z[i] - part.normal_z[i]) * dt
    part.extent_x[i] += (part.offset_x[i] - part.extent_x[i]) * dt
    part.extent_y[i] += (part.offset_y[i] - part.extent_y[i]) * dt
    part.extent_z[i] += (part.offset_z[i] - part.extent_z[i]) * dt


@sv.func
def drive_geometries(part: Geometries, i: sv.i32, dt: sv.f32) -> None:
    part.margin_x[i] = part.margin_x[i] * 0.98 + (part.normal_x[i] - part.friction_x[i]) * dt
    part.margin_y[i] = part.margin_y[i] * 0.98 + (part.normal_y[i] - part.friction_y[i]) * dt
    part.margin_z[i] = part.margin_z[i] * 0.98 + (part.normal_z[i] - part.friction_z[i]) * dt
    part.friction_x[i] += (part.bounce_x[i] - part.friction_x[i]) * dt
    part.friction_y[i] += (part.bounce_y[i] - part.friction_y[i]) * dt
    part.friction_z[i] += (part.bounce_z[i] - part.friction_z[i]) * dt


@sv.func
def settle_geometries(part: Geometries, i: sv.i32, dt: sv.f32) -> None:
    part.density_x[i] = part.density_x[i] * 0.98 + (part.pressure_x[i] - part.bounce_x[i]) * dt
    part.density_y[i] = part.density_y[i] * 0.98 + (part.pressure_y[i] - part.bounce_y[i]) * dt
    part.density_z[i] = part.density_z[i] * 0.98 + (part.pressure_z[i] - part.bounce_z[i]) * dt
    part.shear_x[i] += (part.offset_x[i] - part.shear_x[i]) * dt
    part.shear_y[i] += (part.offset_y[i] - part.shear_y[i]) * dt
    part.shear_z[i] += (part.offset_z[i] - part.shear_z[i]) * dt


@sv.func
def move_contacts(part: Contacts, i: sv.i32, dt: sv.f32) -> None:
    part.point_x[i] = part.point_x[i] * 0.98 + (part.normal_x[i] - part.depth_x[i]) * dt
    part.point_y[i] = part.point_y[i] * 0.98 + (part.normal_y[i] - part.depth_y[i]) * dt
    part.point_z[i] = part.point_z[i] * 0.98 + (part.normal_z[i] - part.depth_z[i]) * dt
    part.normal_x[i] += (part.force_x[i] - part.normal_x[i]) * dt
    part.normal_y[i] += (part.force_y[i] - part.normal_y[i]) * dt
    part.normal_z[i] += (part.force_z[i] - part.normal_z[i]) * dt


@sv.func
def drive_contacts(part: Contacts, i: sv.i32, dt: sv.f32) -> None:
    part.slip_x[i] = part.slip_x[i] * 0.98 + (part.depth_x[i] - part.impulse_x[i]) * dt
    part.slip_y[i] = part.slip_y[i] * 0.98 + (part.depth_y[i] - part.impulse_y[i]) * dt
    part.slip_z[i] = part.slip_z[i] * 0.98 + (part.depth_z[i] - part.impulse_z[i]) * dt
    part.impulse_x[i] += (part.friction_x[i] - part.impulse_x[i]) * dt
    part.impulse_y[i] += (part.friction_y[i] - part.impulse_y[i]) * dt
    part.impulse_z[i] += (part.friction_z[i] - part.impulse_z[i]) * dt


@sv.func
def settle_contacts(part: Contacts, i: sv.i32, dt: sv.f32) -> None:
    part.bias_x[i] = part.bias_x[i] * 0.98 + (part.warm_x[i] - part.friction_x[i]) * dt
    part.bias_y[i] = part.bias_y[i] * 0.98 + (part.warm_y[i] - part.friction_y[i]) * dt
    part.bias_z[i] = part.bias_z[i] * 0.98 + (part.warm_z[i] - part.friction_z[i]) * dt
    part.residual_x[i] += (part.force_x[i] - part.residual_x[i]) * dt
    part.residual_y[i] += (part.force_y[i] - part.residual_y[i]) * dt
    part.residual_z[i] += (part.force_z[i] - part.residual_z[i]) * dt


@sv.func
def move_constraints(part: Constraints, i: sv.i32, dt: sv.f32) -> None:
    part.jacobian_x[i] = part.jacobian_x[i] * 0.98 + (part.bias_x[i] - part.impulse_x[i]) * dt
    part.jacobian_y[i] = part.jacobian_y[i] * 0.98 + (part.bias_y[i] - part.impulse_y[i]) * dt
    part.jacobian_z[i] = part.jacobian_z[i] * 0.98 + (part.bias_z[i] - part.impulse_z[i]) * dt
    part.bias_x[i] += (part.residual_x[i] - part.bias_x[i]) * dt
    part.bias_y[i] += (part.residual_y[i] - part.bias_y[i]) * dt
    part.bias_z[i] += (part.residual_z[i] - part.bias_z[i]) * dt


@sv.func
def drive_constraints(part: Constraints, i: sv.i32, dt: sv.f32) -> None:
    part.scale_x[i] = part.scale_x[i] * 0.98 + (part.impulse_x[i] - part.compliance_x[i]) * dt
    part.scale_y[i] = part.scale_y[i] * 0.98 + (part.impulse_y[i] - part.compliance_y[i]) * dt
    part.scale_z[i] = part.scale_z[i] * 0.98 + (part.impulse_z[i] - part.compliance_z[i]) * dt
    part.compliance_x[i] += (part.gap_x[i] - part.compliance_x[i]) * dt
    part.compliance_y[i] += (part.gap_y[i] - part.compliance_y[i]) * dt
    part.compliance_z[i] += (part.gap_z[i] - part.compliance_z[i]) * dt


@sv.func
def settle_constraints(part: Constraints, i: sv.i32, dt: sv.f32) -> None:
    part.force_x[i] = part.force_x[i] * 0.98 + (part.step_x[i] - part.gap_x[i]) * dt
    part.force_y[i] = part.force_y[i] * 0.98 + (part.step_y[i] - part.gap_y[i]) * dt
    part.force_z[i] = part.force_z[i] * 0.98 + (part.step_z[i] - part.gap_z[i]) * dt
    part.ratio_x[i] += (part.residual_x[i] - part.ratio_x[i]) * dt
    part.ratio_y[i] += (part.residual_y[i] - part.ratio_y[i]) * dt
    part.ratio_z[i] += (part.residual_z[i] - part.ratio_z[i]) * dt


@sv.func
def move_actuators(part: Actuators, i: sv.i32, dt: sv.f32) -> None:
    part.command_x[i] = part.command_x[i] * 0.98 + (part.current_x[i] - part.voltage_x[i]) * dt
    part.command_y[i] = part.command_y[i] * 0.98 + (part.current_y[i] - part.voltage_y[i]) * dt
    part.command_z[i] = part.command_z[i] * 0.98 + (part.current_z[i] - part.voltage_z[i]) * dt
    part.current_x[i] += (part.torque_x[i] - part.current_x[i]) * dt
    part.current_y[i] += (part.torque_y[i] - part.current_y[i]) * dt
    part.current_z[i] += (part.torque_z[i] - part.current_z[i]) * dt


@sv.func
def drive_actuators(part: Actuators, i: sv.i32, dt: sv.f32) -> None:
    part.rate_x[i] = part.rate_x[i] * 0.98 + (part.voltage_x[i] - part.gain_x[i]) * dt
    part.rate_y[i] = part.rate_y[i] * 0.98 + (part.voltage_y[i] - part.gain_y[i]) * dt
    part.rate_z[i] = part.rate_z[i] * 0.98 + (part.voltage_z[i] - part.gain_z[i]) * dt
    part.gain_x[i] += (part.limit_x[i] - part.gain_x[i]) * dt
    part.gain_y[i] += (part.limit_y[i] - part.gain_y[i]) * dt
    part.gain_z[i] += (part.limit_z[i] - part.gain_z[i]) * dt


@sv.func
def settle_actuators(part: Actuators, i: sv.i32, dt: sv.f32) -> None:
    part.heat_x[i] = part.heat_x[i] * 0.98 + (part.loss_x[i] - part.limit_x[i]) * dt
    part.heat_y[i] = part.heat_y[i] * 0.98 + (part.loss_y[i] - part.limit_y[i]) * dt
    part.heat_z[i] = part.heat_z[i] * 0.98 + (part.loss_z[i] - part.limit_z[i]) * dt
    part.state_x[i] += (part.torque_x[i] - part.state_x[i]) * dt
    part.state_y[i] += (part.torque_y[i] - part.state_y[i]) * dt
    part.state_z[i] += (part.torque_z[i] - part.state_z[i]) * dt


@sv.func
def move_sensors(part: Sensors, i: sv.i32, dt: sv.f32) -> None:
    part.reading_x[i] = part.reading_x[i] * 0.98 + (part.bias_x[i] - part.noise_x[i]) * dt
    part.reading_y[i] = part.reading_y[i] * 0.98 + (part.bias_y[i] - part.noise_y[i]) * dt
    part.reading_z[i] = part.reading_z[i] * 0.98 + (part.bias_z[i] - part.noise_z[i]) * dt
    part.bias_x[i] += (part.filter_x[i] - part.bias_x[i]) * dt
    part.bias_y[i] += (part.filter_y[i] - part.bias_y[i]) * dt
    part.bias_z[i] += (part.filter_z[i] - part.bias_z[i]) * dt


@sv.func
def drive_sensors(part: Sensors, i: sv.i32, dt: sv.f32) -> None:
    part.rate_x[i] = part.rate_x[i] * 0.98 + (part.noise_x[i] - part.gain_x[i]) * dt
    part.rate_y[i] = part.rate_y[i] * 0.98 + (part.noise_y[i] - part.gain_y[i]) * dt
    part.rate_z[i] = part.rate_z[i] * 0.98 + (part.noise_z[i] - part.gain_z[i]) * dt
    part.gain_x[i] += (part.offset_x[i] - part.gain_x[i]) * dt
    part.gain_y[i] += (part.offset_y[i] - part.gain_y[i]) * dt
    part.gain_z[i] += (part.offset_z[i] - part.gain_z[i]) * dt


@sv.func
def settle_sensors(part: Sensors, i: sv.i32, dt: sv.f32) -> None:
    part.window_x[i] = part.window_x[i] * 0.98 + (part.delay_x[i] - part.offset_x[i]) * dt
    part.window_y[i] = part.window_y[i] * 0.98 + (part.delay_y[i] - part.offset_y[i]) * dt
    part.window_z[i] = part.window_z[i] * 0.98 + (part.delay_z[i] - part.offset_z[i]) * dt
    part.estimate_x[i] += (part.filter_x[i] - part.estimate_x[i]) * dt
    part.estimate_y[i] += (part.filter_y[i] - part.estimate_y[i]) * dt
    part.estimate_z[i] += (part.filter_z[i] - part.estimate_z[i]) * dt


@sv.func
def move_controllers(part: Controllers, i: sv.i32, dt: sv.f32) -> None:
    part.reference_x[i] = part.reference_x[i] * 0.98 + (part.error_x[i] - part.integral_x[i]) * dt
    part.reference_y[i] = part.reference_y[i] * 0.98 + (part.error_y[i] - part.integral_y[i]) * dt
    part.reference_z[i] = part.reference_z[i] * 0.98 + (part.error_z[i] - part.integral_z[i]) * dt
    part.error_x[i] += (part.derivative_x[i] - part.error_x[i]) * dt
    part.error_y[i] += (part.derivative_y[i] - part.error_y[i]) * dt
    part.error_z[i] += (part.derivative_z[i] - part.error_z[i]) * dt


@sv.func
def drive_controllers(part: Controllers, i: sv.i32, dt: sv.f32) -> None:
    part.proportional_x[i] = part.proportional_x[i] * 0.98 + (part.integral_x[i] - part.output_x[i]) * dt
    part.proportional_y[i] = part.proportional_y[i] * 0.98 + (part.integral_y[i] - part.output_y[i]) * dt
    part.proportional_z[i] = part.proportional_z[i] * 0.98 + (part.integral_z[i] - part.output_z[i]) * dt
    part.output_x[i] += (part.limit_x[i] - part.output_x[i]) * dt
    part.output_y[i] += (part.limit_y[i] - part.output_y[i]) * dt
    part.output_z[i] += (part.limit_z[i] - part.output_z[i]) * dt


@sv.func
def settle_controllers(part: Controllers, i: sv.i32, dt: sv.f32) -> None:
    part.feed_x[i] = part.feed_x[i] * 0.98 + (part.rate_x[i] - part.limit_x[i]) * dt
    part.feed_y[i] = part.feed_y[i] * 0.98 + (part.rate_y[i] - part.limit_y[i]) * dt
    part.feed_z[i] = part.feed_z[i] * 0.98 + (part.rate_z[i] - part.limit_z[i]) * dt
    part.blend_x[i] += (part.derivative_x[i] - part.blend_x[i]) * dt
    part.blend_y[i] += (part.derivative_y[i] - part.blend_y[i]) * dt
    part.blend_z[i] += (part.derivative_z[i] - part.blend_z[i]) * dt


@sv.func
def move_surroundings(part: Surroundings, i: sv.i32, dt: sv.f32) -> None:
    part.wind_x[i] = part.wind_x[i] * 0.98 + (part.gravity_x[i] - part.density_x[i]) * dt
    part.wind_y[i] = part.wind_y[i] * 0.98 + (part.gravity_y[i] - part.density_y[i]) * dt
    part.wind_z[i] = part.wind_z[i] * 0.98 + (part.gravity_z[i] - part.density_z[i]) * dt
    part.gravity_x[i] += (part.height_x[i] - part.gravity_x[i]) * dt
    part.gravity_y[i] += (part.height_y[i] - part.gravity_y[i]) * dt
    part.gravity_z[i] += (part.height_z[i] - part.gravity_z[i]) * dt


@sv.func
def drive_surroundings(part: Surroundings, i: sv.i32, dt: sv.f32) -> None:
    part.slope_x[i] = part.slope_x[i] * 0.98 + (part.density_x[i] - part.flow_x[i]) * dt
    part.slope_y[i] = part.slope_y[i] * 0.98 + (part.density_y[i] - part.flow_y[i]) * dt
    part.slope_z[i] = part.slope_z[i] * 0.98 + (part.density_z[i] - part.flow_z[i]) * dt
    part.flow_x[i] += (part.heat_x[i] - part.flow_x[i]) * dt
    part.flow_y[i] += (part.heat_y[i] - part.flow_y[i]) * dt
    part.flow_z[i] += (part.heat_z[i] - part.flow_z[i]) * dt


@sv.func
def settle_surroundings(part: Surroundings, i: sv.i32, dt: sv.f32) -> None:
    part.pressure_x[i] = part.pressure_x[i] * 0.98 + (part.drift_x[i] - part.heat_x[i]) * dt
    part.pressure_y[i] = part.pressure_y[i] * 0.98 + (part.drift_y[i] - part.heat_y[i]) * dt
    part.pressure_z[i] = part.pressure_z[i] * 0.98 + (part.drift_z[i] - part.heat_z[i]) * dt
    part.noise_x[i] += (part.height_x[i] - part.noise_x[i]) * dt
    part.noise_y[i] += (part.height_y[i] - part.noise_y[i]) * dt
    part.noise_z[i] += (part.height_z[i] - part.noise_z[i]) * dt
