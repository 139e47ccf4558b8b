"""Derivatives of Python functions that launch kernels: gradients, Jacobian and Hessian products, checks."""

from __future__ import annotations

from functools import wraps

from samovar import errors
from samovar._native import call_with_keys, differentiable, next_key, watch_launches
from samovar.runtime.central_differences import compare
from samovar.runtime.forward_mode import FwdMode, TangentTape
from samovar.runtime.launch_plan import Place
from samovar.runtime.tangents import all_tangents, give_second_tangents, tangent_of
from samovar.runtime.tape import Tape, clear_all_gradients, present_tape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def several(found: Any) -> list[Any]:
    """One result, or several, as a list."""
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _require_gradients(arrays: Sequence[Any], what: str) -> None:
    for number, each in enumerate(arrays):
        if getattr(each, "grad", None) is None:
            raise errors.SamovarTypeError(
                f"{what} {number} has no gradient, it is {type(each).__name__}\n"
                "  help: create it with `needs_grad=True`, as in `sv.ndarray(sv.f64, n, needs_grad=True)`"
            )


def value_and_grad(f: Callable[..., Any], wrt: int | Sequence[int] | None = None) -> Callable[..., Any]:
    """Return a function that computes the result of `f`, a number in an array, and its gradients by the array arguments: by
    all, or by those at the positions `wrt`.

    >>> import samovar as sv
    >>> loss = sv.ndarray(sv.f32, (), needs_grad=True)
    >>> @sv.kernel
    ... def energy(x: sv.types.NDArray[sv.f32, 1]):
    ...     loss[None] = 0
    ...     for i in x:
    ...         loss[None] += x[i] ** 2
    >>> def f(x):
    ...     energy(x)
    ...     return loss
    >>> x = sv.ndarray(sv.f32, 2, needs_grad=True)
    >>> x.fill(2)
    >>> sv.ad.value_and_grad(f)(x)
    (8.0, ndarray([4.0, 4.0], dtype=f32, shape=(2,)))
    """

    @wraps(f)
    def run(*arrays: Any) -> Any:
        chosen = list(range(len(arrays))) if wrt is None else several(wrt)
        _require_gradients([arrays[each] for each in chosen], "argument")
        with Tape() as tape:
            loss = f(*arrays)
        _require_gradients([loss], "result")
        if loss.size != 1:
            raise errors.SamovarTypeError(f"the value of {f.__name__} is one number, not an array of shape {loss.shape}")
        loss.grad.fill(1)
        tape.backward()
        found = tuple(arrays[each].grad.__copy__() for each in chosen)
        value = loss.reshape(1)[0]
        return value, found[0] if (wrt is None and len(found) == 1) or isinstance(wrt, int) else found

    return run


def vjp(f: Callable[..., Any], *arrays: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the result of `f`, and a function from weights, an array like each result, to the gradients of the weighted sum
    by the arrays (vector-Jacobian product). Integer results have no weight.

    >>> import samovar as sv
    >>> y = sv.ndarray(sv.f32, 2, needs_grad=True)
    >>> @sv.kernel
    ... def square(x: sv.types.NDArray[sv.f32, 1]):
    ...     for i in x:
    ...         y[i] = x[i] * x[i]
    >>> def f(x):
    ...     square(x)
    ...     return y
    >>> x = sv.ndarray(sv.f32, 2, needs_grad=True)
    >>> x.fill(3)
    >>> _, pull = sv.ad.vjp(f, x)
    >>> pull(sv.ones(2))
    ndarray([6.0, 6.0], dtype=f32, shape=(2,))
    """
    _require_gradients(arrays, "argument")
    with Tape() as tape:
        results = f(*arrays)
    floats = [each for each in several(results) if each.dtype.kind == "float"]
    _require_gradients(floats, "result")
    _require_separate(f, floats)

    def pull(*weights: Any) -> Any:
        clear_all_gradients()
        for result, weight in zip(floats, weights, strict=True):
            result.grad.copy_from(weight)
        tape.backward(keep=True)
        found = tuple(each.grad.__copy__() for each in arrays)
        return found[0] if len(found) == 1 else found

    return results, pull


def _require_separate(f: Callable[..., Any], results: Sequence[Any]) -> None:
    """Each result has its own weight, so that results do not share a gradient."""
    places = [Place(each.grad) for each in results]
    for number, place in enumerate(places):
        if any(place.overlaps(other) for other in places[:number]):
            raise errors.SamovarTypeError(
                f"result {number} of {getattr(f, '__name__', 'the function')} shares memory with another result\n"
                "  help: return each array once, or a copy that a kernel makes"
            )


def jvp(f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return the result of `f`, and its derivative along `tangents`, one for each array (Jacobian-vector product).

    >>> import samovar as sv
    >>> y = sv.ndarray(sv.f32, 2, needs_grad=True)
    >>> @sv.kernel
    ... def square(x: sv.types.NDArray[sv.f32, 1]):
    ...     for i in x:
    ...         y[i] = x[i] * x[i]
    >>> def f(x):
    ...     square(x)
    ...     return y
    >>> x = sv.ndarray(sv.f32, 2, needs_grad=True)
    >>> x.fill(3)
    >>> sv.ad.jvp(f, [x], [sv.ones(2)])[1]
    ndarray([6.0, 6.0], dtype=f32, shape=(2,))
    """
    _seed(arrays, tangents)
    mode = FwdMode([], arrays[0])
    mode.begin()
    try:
        results = f(*arrays)
    finally:
        watch_launches(None)
    found = [tangent_of(each) for each in several(results)]
    return results, found if isinstance(results, (list, tuple)) else found[0]


def _seed(arrays: Sequence[Any], tangents: Sequence[Any]) -> None:
    _require_gradients(arrays, "argument")
    for array in all_tangents():
        array.dual.fill(0)
    for array, tangent in zip(arrays, tangents, strict=True):
        tangent_of(array).copy_from(tangent)


def hvp(f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """Return the Hessian of `f`, which returns a number in an array, times a vector: the derivative of the gradient along
    `tangents`, one array for each of `arrays`. Uses forward mode over reverse mode.

    >>> import samovar as sv
    >>> loss = sv.ndarray(sv.f32, (), needs_grad=True)
    >>> @sv.kernel
    ... def cubes(x: sv.types.NDArray[sv.f32, 1]):
    ...     loss[None] = 0
    ...     for i in x:
    ...         loss[None] += x[i] ** 3
    >>> def f(x):
    ...     cubes(x)
    ...     return loss
    >>> x = sv.ndarray(sv.f32, 2, needs_grad=True)
    >>> x.fill(2)
    >>> sv.ad.hvp(f, [x], [sv.ones(2)])
    (ndarray([12.0, 12.0], dtype=f32, shape=(2,)),)
    """
    _seed(arrays, tangents)
    clear_all_gradients()
    give_second_tangents()
    for array in differentiable():
        array.grad.dual.fill(0)
    with TangentTape() as tape:
        loss = f(*arrays)
    _require_gradients([loss], "result")
    loss.grad.fill(1)
    tape.backward()
    return tuple(each.grad.dual.__copy__() for each in arrays)


def check(
    f: Callable[..., Any], *arrays: Any, step: float | None = None, tolerance: float | None = None
) -> float:
    """Compare the gradients of `f`, which returns a number in an array, with central differences, for the same random
    numbers of kernels. Return the largest error, relative to the largest number; raise an exception that names the wrong
    element of the array. The step and the tolerance depend on the dtype of an array, unless they are given.

    >>> import samovar as sv
    >>> loss = sv.ndarray(sv.f64, (), needs_grad=True)
    >>> @sv.kernel
    ... def waves(x: sv.types.NDArray[sv.f64, 1]):
    ...     loss[None] = 0
    ...     for i in x:
    ...         loss[None] += sv.sin(x[i])
    >>> def f(x):
    ...     waves(x)
    ...     return loss
    >>> x = sv.ndarray(sv.f64, 2, needs_grad=True)
    >>> sv.ad.check(f, x) < 1e-6
    True
    """
    before = [each.__copy__() for each in arrays]
    seed, key, _ = next_key()
    found = value_and_grad(f, wrt=tuple(range(len(arrays))))(*arrays)[1]
    for array, start in zip(arrays, before, strict=True):
        array.copy_from(start)

    def value() -> float:
        moved = [each.__copy__() for each in arrays]
        result = float(call_with_keys(seed, key, lambda: f(*arrays)).reshape(1)[0])
        for array, start in zip(arrays, moved, strict=True):
            array.copy_from(start)
        return result

    return compare(arrays, [each.to_numpy() for each in found], value, step, tolerance)


def grad_replaced(func: Callable[..., Any]) -> Any:
    """A function whose gradient is computed by another one, decorated with `grad_for`.

    >>> import samovar as sv
    >>> x, y = (sv.ndarray(sv.f32, (), needs_grad=True) for _ in range(2))
    >>> @sv.kernel
    ... def double():
    ...     y[None] += 2 * x[None]
    >>> @sv.ad.grad_replaced
    ... def f():
    ...     double()
    >>> @sv.ad.grad_for(f)
    ... def f_grad():
    ...     x.grad[None] = 5 * y.grad[None]
    >>> with sv.ad.Tape(y):
    ...     f()
    >>> x.grad[None]
    5.0
    """

    @wraps(func)
    def decorated(*arguments: Any, **keywords: Any) -> Any:
        tape = present_tape()
        if tape is None:
            return func(*arguments, **keywords)
        if decorated.grad is None:  # type: ignore[attr-defined]
            raise errors.SamovarRuntimeError(
                f"{func.__name__} has no gradient\n"
                f"  help: write one, and decorate it with `@sv.ad.grad_for({func.__name__})`"
            )
        with tape.paused():
            result = func(*arguments, **keywords)
        tape.insert(lambda: decorated.grad(*arguments, **keywords), ())  # type: ignore[attr-defined]
        return result

    decorated.grad = None  # type: ignore[attr-defined]
    return decorated


def grad_for(primal: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the function that computes the gradient of `primal`, see `grad_replaced`.

    >>> import samovar as sv
    >>> x, y = (sv.ndarray(sv.f32, (), needs_grad=True) for _ in range(2))
    >>> @sv.kernel
    ... def floor():
    ...     y[None] = sv.floor(x[None])
    >>> @sv.ad.grad_replaced
    ... def rounded():
    ...     floor()
    >>> @sv.ad.grad_for(rounded)
    ... def as_if_it_were_smooth():
    ...     x.grad[None] = y.grad[None]
    >>> with sv.ad.Tape(y):
    ...     rounded()
    >>> x.grad[None]
    1.0
    """
    if not hasattr(primal, "grad"):
        raise errors.SamovarTypeError("grad_for takes a function that `@sv.ad.grad_replaced` decorates")

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        primal.grad = func
        return func

    return decorate


def no_grad(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose launches have no gradient: tapes save only what they overwrite.

    >>> import samovar as sv
    >>> x, y = (sv.ndarray(sv.f32, (), needs_grad=True) for _ in range(2))
    >>> @sv.kernel
    ... def add():
    ...     y[None] += x[None]
    >>> @sv.ad.no_grad
    ... def warm_up():
    ...     add()
    >>> with sv.ad.Tape(y):
    ...     warm_up()
    ...     add()
    >>> x.grad[None]
    1.0
    """

    @wraps(func)
    def decorated(*arguments: Any, **keywords: Any) -> Any:
        tape = present_tape()
        if tape is None:
            return func(*arguments, **keywords)
        with tape.paused():
            return func(*arguments, **keywords)

    return decorated
