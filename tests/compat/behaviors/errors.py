"""Programs with a mistake: the class of the error that they end with."""

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def an_unknown_option():
    start(no_such_option=3)


def an_unknown_attribute_of_the_library():
    return qd.no_such_name


def a_name_that_is_missing():
    start()

    @qd.kernel
    def k() -> qd.i32:
        return no_such_name  # noqa: F821

    return k()


def a_method_that_is_missing():
    start()

    @qd.kernel
    def k() -> qd.f32:
        v = qd.Vector([1.0, 2.0])
        return v.no_such_method()

    return k()


def a_member_that_is_missing():
    start()

    @qd.kernel
    def k() -> qd.f32:
        s = qd.Struct(a=1.0)
        return s.b

    return k()


def too_many_indices():
    start()
    x = qd.field(qd.f32, (2, 2))

    @qd.kernel
    def k():
        x[0, 0, 0] = 1.0

    k()


def too_few_indices():
    start()
    x = qd.field(qd.f32, (2, 2))

    @qd.kernel
    def k():
        x[0] = 1.0

    k()


def too_many_names_in_a_loop():
    start()
    x = qd.field(qd.f32, (2, 2))

    @qd.kernel
    def k():
        for _i, _j, _l in x:
            pass

    k()


def unequal_numbers_of_targets():
    start()

    @qd.kernel
    def k():
        a, b = 1, 2, 3  # noqa: F841

    k()


def a_vector_with_too_few_targets():
    start()

    @qd.kernel
    def k():
        _a, _b = qd.Vector([1, 2, 3])

    k()


def matrices_that_do_not_fit():
    start()

    @qd.kernel
    def k():
        a = qd.Matrix([[1, 2], [3, 4]]) @ qd.Vector([1, 2, 3])  # noqa: F841

    k()


def a_string_as_a_number():
    start()

    @qd.kernel
    def k() -> qd.i32:
        return 1 + "a"

    return k()


def a_missing_argument():
    start()

    @qd.kernel
    def k(a: qd.i32):
        pass

    k()


def an_argument_too_many():
    start()

    @qd.kernel
    def k(a: qd.i32):
        pass

    k(1, 2)


def a_missing_argument_of_a_func():
    start()

    @qd.func
    def f(a, b):
        return a + b

    @qd.kernel
    def k() -> qd.i32:
        return f(1)

    return k()


def an_argument_that_is_no_number():
    start()

    @qd.kernel
    def k(a: qd.i32):
        pass

    k("three")


def an_array_for_a_number():
    start()

    @qd.kernel
    def k(a: qd.f32):
        pass

    k(np.zeros(3, np.float32))


def a_number_for_an_array():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray()):
        pass

    k(3)


def a_list_for_an_array():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray()):
        pass

    k([1, 2, 3])


def another_dtype_of_an_array():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.f32)):
        pass

    k(np.zeros(2, np.float64))


def a_kernel_without_annotations():
    start()

    @qd.kernel
    def k(a):
        pass

    k(1)


def a_parameter_of_unknown_type():
    start()

    @qd.kernel
    def k(a: list):
        pass

    k([1])


def a_missing_return():
    start()

    @qd.kernel
    def k() -> qd.i32:
        pass

    return k()


def a_generator():
    start()

    @qd.kernel
    def k():
        yield 3

    k()


def an_import_in_a_kernel():
    start()

    @qd.kernel
    def k():
        import math  # noqa: F401

    k()


def a_class_in_a_kernel():
    start()

    @qd.kernel
    def k():
        class A:
            pass

    k()


def a_with_statement():
    start()

    @qd.kernel
    def k():
        with open("x"):
            pass

    k()


def an_exception_in_a_kernel():
    start()

    @qd.kernel
    def k():
        raise ValueError

    k()


def a_global_statement():
    start()

    @qd.kernel
    def k():
        global NUMBER
        NUMBER = 3

    k()


def a_dictionary_in_a_kernel():
    start()

    @qd.kernel
    def k() -> qd.i32:
        d = {"a": 1}
        return d["a"]

    return k()


def a_break_outside_of_a_serial_loop():
    start()

    @qd.kernel
    def k():
        for i in range(5):
            if i > 2:
                break

    k()


def an_assertion_that_fails():
    start(debug=True)

    @qd.kernel
    def k(a: qd.i32):
        assert a > 0, "not positive"

    k(-1)


def an_index_out_of_bounds():
    start(debug=True)
    x = qd.field(qd.f32, 3)

    @qd.kernel
    def k(i: qd.i32):
        x[i] = 1.0

    k(3)


def a_division_of_bits_of_floats():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return a & 3

    return k(1.0)


def an_inverted_float():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return ~a

    return k(1.0)


def shifted_floats():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return a << 2

    return k(1.0)


def a_float_as_an_index():
    start()
    x = qd.field(qd.f32, 3)

    @qd.kernel
    def k(a: qd.f32):
        x[a] = 1.0

    k(1.0)


def a_negative_shape():
    start()
    qd.field(qd.f32, (-1, 2))


def a_shape_of_floats():
    start()
    qd.field(qd.f32, (1.5, 2))


def another_shape_from_numpy():
    start()
    qd.field(qd.f32, 3).from_numpy(np.zeros(4, np.float32))


def a_field_copied_from_another_shape():
    start()
    qd.field(qd.f32, 3).copy_from(qd.field(qd.f32, 4))


def a_static_assertion():
    start()

    @qd.kernel
    def k():
        qd.static_assert(1 > 2, "never")

    k()


def a_static_of_a_number_at_run_time():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return qd.static(a) + 1

    return k(2)


def a_static_loop_over_a_run_time_range():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        s = 0
        for i in qd.static(range(n)):
            s += i
        return s

    return k(2)
