"""Forward mode over launches: each one computes tangents along with values. On a tape, that gives second derivatives."""

from __future__ import annotations

from samovar import errors
from samovar._native import Ndarray, f64, reshaped, version_of, watch_launches, written_elsewhere
from samovar.runtime.graph_steps import is_graph, run_graph
from samovar.runtime.tangents import all_tangents, give_second_tangents, tangent_of
from samovar.runtime.tape import Tape, begin_watching, launch_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.runtime.kernel import Kernel
    from samovar.runtime.tape import Record


class FwdMode:
    """Launches in its block compute `x.dual` along with `x`, the derivative along `seed` of `param`.

    >>> import samovar as sv
    >>> x, y = (sv.ndarray(sv.f32, 2, needs_grad=True) for _ in range(2))
    >>> @sv.kernel
    ... def square():
    ...     for i in x:
    ...         y[i] = x[i] * x[i]
    >>> x.fill(3)
    >>> with sv.ad.FwdMode(loss=y, param=x, seed=[1.0, 0.0]):
    ...     square()
    >>> y.dual
    ndarray([6.0, 0.0], dtype=f32, shape=(2,))
    """

    def __init__(self, loss: Any, param: Any, seed: Any = None, clear_gradients: bool = True) -> None:
        self.losses = list(loss) if isinstance(loss, (list, tuple)) else [loss]
        self.param = param
        self.seed = seed
        self._clears = clear_gradients
        self._versions: dict[int, tuple[Any, int | None]] = {}

    def __enter__(self) -> FwdMode:
        self.begin()
        try:
            self._seed()
        except BaseException:
            watch_launches(None)
            raise
        return self

    def _seed(self) -> None:
        """Set all tangents: those of `param` to the seed, all others to 0."""
        from array import array as buffer
        from math import prod

        tangent = tangent_of(self.param)
        for each in self.losses:
            tangent_of(each)
        if self._clears:
            for array in all_tangents():
                array.dual.fill(0)
        count = tangent.size * prod(tangent.element_shape)
        if self.seed is None:
            if count != 1:
                raise errors.SamovarTypeError("FwdMode needs a `seed` with a number for each element of `param`")
            tangent.fill(1)
        else:
            numbers = [float(each) for each in self.seed]
            if len(numbers) != count:
                raise errors.SamovarTypeError(f"the seed has {len(numbers)} numbers, but `param` has {count}")
            content = Ndarray(f64, (*tangent.shape, *tangent.element_shape))
            reshaped(content, (len(numbers),), 0).copy_from(buffer("d", numbers))
            tangent.copy_from(reshaped(content, content.shape, len(tangent.element_shape)))

    def begin(self) -> None:
        """Make launches compute tangents from now on, until recording ends."""
        begin_watching(self._launch)

    def _launch(self, kernel: Kernel, arguments: tuple[Any, ...], label: int | None = None) -> Any:
        if is_graph(kernel):
            return run_graph(kernel, arguments, self._launch, label)
        for array in all_tangents():
            _, known = self._versions.get(id(array), (array, None))
            if (known is not None and known != version_of(array)) or written_elsewhere(array):
                raise errors.SamovarRuntimeError(
                    f"an array of shape {tuple(array.shape)} was written to outside the launches that compute tangents:"
                    " its tangent is unknown\n  help: write to it before, or in a kernel on the same thread"
                )
        running = kernel if "derivative" in kernel.state.signature.options else kernel.in_mode("forward")
        result = launch_with(running, arguments)
        for array in all_tangents():
            self._versions[id(array)] = array, version_of(array)
        return result

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        watch_launches(None)


class TangentTape(Tape):
    """A tape whose launches and reverses also compute tangents: those of gradients are second derivatives."""

    launched = "forward"
    reversed = "forward taped"

    def _record(self, kernel: Kernel, taped: Kernel, arguments: tuple[Any, ...]) -> Record:
        give_second_tangents()
        return super()._record(kernel, taped, arguments)
