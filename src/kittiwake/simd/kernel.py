"""Kernels: compiled programs that are called with arrays of NumPy."""

import ctypes
import time
from collections.abc import Callable, Sequence

import jax
import llvmlite.ir as ir
import numpy as np
from jax.extend.core import ClosedJaxpr

from kittiwake.simd.code_generation import MachineCode
from kittiwake.simd.data_types import BYTES, INDEX, stored_type
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import FlatProgram, Operand, Variable, flatten
from kittiwake.simd.float_mode import flushing_subnormals
from kittiwake.simd.moves import with_moves
from kittiwake.simd.rules import ELEMENTWISE, RULES
from kittiwake.simd.support import UnsupportedError, missing_rules
from kittiwake.simd.translator import Translator
from kittiwake.simd.values import Register, Stored, Value
from kittiwake.simd.workspace import ALIGNMENT

POINTERS = BYTES.as_pointer()
POINTER_TYPES = [ctypes.c_void_p] * 3


class Kernel:
    """A compiled program.

    Attributes:
        inputs: shapes and types of its arguments; keys are words, with a first axis of two.
        outputs: those of its results.
        compile_s: time that compiling took.
        code_bytes: size of the machine code.
        equations: number of equations that were translated, those of inner programs once.
    """

    def __init__(self, program: FlatProgram) -> None:
        began = time.perf_counter()
        self.inputs, self.outputs = (
            tuple(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in form)
            for form in (program.inputs, [_form(output) for output in program.outputs])
        )
        module, self._workspace_bytes = _module(program)
        self._code = MachineCode(module)
        self.code_bytes = self._code.code_bytes
        self.equations = sum(1 for _ in program.walk())
        self._call = ctypes.PYFUNCTYPE(None, *POINTER_TYPES)(self._code.address("call"))
        self._repeat = ctypes.CFUNCTYPE(
            None, *POINTER_TYPES, *[ctypes.c_int64] * 4, ctypes.c_void_p
        )(self._code.address("repeat"))
        self._tiles = ctypes.CFUNCTYPE(
            None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 3, ctypes.c_void_p
        )(self._code.address("tiles"))
        self.compile_s = time.perf_counter() - began

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the results for arguments.

        Raises:
            ValueError: for an array of another shape or type than ``inputs`` say.
        """
        given = [np.asarray(array, order="C") for array in arrays]
        results = [np.empty(like.shape, like.dtype) for like in self.outputs]
        self.bind(given, results)()
        return results

    def bind(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> Callable[[], None]:
        """Return a function that reads and writes certain arrays, each time it is called.

        Args:
            inputs: contiguous arrays as ``inputs`` say.
            outputs: contiguous arrays as ``outputs`` say; none shares memory with an input.

        Raises:
            ValueError: for another number of arrays, or another shape, type or order of one.
        """
        _require(inputs, self.inputs, "input")
        _require(outputs, self.outputs, "output")
        return BoundCall(self._call, inputs, outputs, self)

    def repeat(
        self,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        count: int,
        carried: int,
    ) -> None:
        """Call the kernel again and again, each time with results of the time before.

        Args:
            inputs: contiguous arrays; the last ones are overwritten by the carried results.
            outputs: contiguous arrays: the carried results of the last time, and then the other
                results with the number of the call as first axis.
            count: number of calls, at least one.
            carried: number of results that are the last arguments of the next call.

        Raises:
            ValueError: for another number of arrays, or another shape, type or order of one.
        """
        _require(inputs, self.inputs, "input")
        stacked = [
            jax.ShapeDtypeStruct((count, *like.shape), like.dtype)
            for like in self.outputs[carried:]
        ]
        _require(outputs, [*self.outputs[:carried], *stacked], "output")
        sizes = [output.nbytes for output in outputs[:carried]]
        sizes += [output[0].nbytes for output in outputs[carried:]]
        tables = _addresses(inputs), _addresses(outputs), np.asarray(sizes, np.int64)
        lengths = count, len(inputs) - carried, carried, len(outputs)
        workspace = self.workspace()
        places = [table.ctypes.data for table in tables]
        self._repeat(*places, *lengths, workspace.ctypes.data)

    def bind_tiles(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> "BoundTiles":
        """Return a function of a range of tiles, each of which is one call of the kernel.

        Calls for different ranges may run at the same time in several threads.

        Args:
            inputs: contiguous arrays as ``inputs`` say, or with a first axis of tiles.
            outputs: contiguous arrays as ``outputs`` say, or with a first axis of tiles; those
                without are written in each call.

        Raises:
            ValueError: for another number of arrays, or another shape, type or order of one.
        """
        return BoundTiles(self._tiles, inputs, outputs, self)

    def workspace(self) -> np.ndarray:
        """Return memory for a call; calls at the same time need one each."""
        whole = np.empty(self._workspace_bytes + ALIGNMENT, np.uint8)
        return whole[-whole.ctypes.data % ALIGNMENT :]


class BoundCall:
    """A kernel with its arguments and results, which live as long as it does."""

    __slots__ = ("_arrays", "_call", "_inputs", "_kernel", "_outputs", "_workspace")

    def __init__(
        self,
        call: Callable[[int, int, int], None],
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        kernel: Kernel,
    ) -> None:
        tables = _addresses(inputs), _addresses(outputs)
        self._call, self._kernel = call, kernel
        workspace = kernel.workspace()
        self._arrays = (*inputs, *outputs, *tables, workspace)
        self._inputs, self._outputs = (int(table.ctypes.data) for table in tables)
        self._workspace = int(workspace.ctypes.data)

    def __call__(self) -> None:
        """Call the kernel."""
        self._call(self._inputs, self._outputs, self._workspace)


class BoundTiles:
    """A kernel with the arguments and results of many calls, which live as long as it does."""

    def __init__(
        self,
        call: Callable[..., None],
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        kernel: Kernel,
    ) -> None:
        first = [
            [array[0] if array.ndim > len(like.shape) else array for array, like in pairs]
            for pairs in (
                [*zip(inputs, kernel.inputs, strict=True)],
                [*zip(outputs, kernel.outputs, strict=True)],
            )
        ]
        _require(first[0], kernel.inputs, "input")
        _require(first[1], kernel.outputs, "output")
        self._call, self._kernel, self._arrays = call, kernel, (*inputs, *outputs)
        arrays, tiles = [*inputs, *outputs], [*first[0], *first[1]]
        self._addresses = _addresses(arrays).astype(np.int64)
        self._steps = np.asarray(
            [
                tile.nbytes if array.ndim > tile.ndim else 0
                for array, tile in zip(arrays, tiles, strict=True)
            ],
            np.int64,
        )
        self._counts = len(inputs), len(outputs)

    def __call__(self, start: int, count: int) -> None:
        """Call the kernel for some tiles, one after another."""
        addresses = self._addresses + start * self._steps
        workspace = self._kernel.workspace()
        own, steps, size = addresses.ctypes.data, self._steps.ctypes.data, addresses.itemsize
        of_outputs = size * self._counts[0]
        places = own, own + of_outputs, steps, steps + of_outputs
        self._call(*places, *self._counts, count, workspace.ctypes.data)


def compile_jaxpr(closed: ClosedJaxpr) -> Kernel:
    """Return a kernel of a program.

    Raises:
        UnsupportedError: with all primitives that have no rule.
    """
    program = flatten(closed)
    missing = missing_rules(program)
    if missing:
        raise UnsupportedError(missing)
    return Kernel(with_moves(program))


def _module(program: FlatProgram) -> tuple[ir.Module, int]:
    """Return a module with the program as a function and a loop of it, and its workspace."""
    module = ir.Module("kernel")
    step = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTERS, POINTERS, BYTES]), "step")
    emit = Emitter(module, step, _block(program))
    translator = Translator(emit, RULES, ELEMENTWISE)
    arguments: list[Value] = []
    for index, one in enumerate(program.inputs):
        pointer = _pointer(emit.builder, step.args[0], index, stored_type(one.dtype))
        stored = Stored(pointer, one.shape, one.dtype)
        is_small = 0 < stored.size <= emit.max_elements
        arguments.append(
            Register(translator.register(stored), one.shape, one.dtype) if is_small else stored
        )
    for index, value in enumerate(translator.translate(program, arguments)):
        pointer = _pointer(emit.builder, step.args[1], index, stored_type(value.dtype))
        translator.write(value, pointer)
    emit.finish()
    # its arithmetic stays between the changes of the processor's mode
    step.attributes.add("noinline")
    _add_call(module, step)
    _add_repetition(module, step)
    _add_tiles(module, step)
    return module, emit.workspace.size


def _block(program: FlatProgram) -> int:
    """Return the number of elements of the program's precision in a register of 64 bytes."""
    dtypes = {one.dtype for one in (*program.inputs, *map(_form, program.outputs))}
    return 8 if np.dtype(np.float64) in dtypes else 16


def _add_call(module: ir.Module, step: ir.Function) -> None:
    """Add a function that calls the program once."""
    function = ir.Function(module, step.function_type, "call")
    emit = Emitter(module, function)
    with flushing_subnormals(emit):
        emit.builder.call(step, [*function.args])
    emit.finish()


def _add_repetition(module: ir.Module, step: ir.Function) -> None:
    """Add a loop: after each call carried results become arguments, and other results move on."""
    kind = [POINTERS, POINTERS, INDEX.as_pointer(), *[INDEX] * 4, BYTES]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kind), "repeat")
    inputs, outputs, sizes, count, first, carried, results, workspace = function.args
    emit = Emitter(module, function)
    builder = emit.builder
    copy = module.declare_intrinsic("llvm.memcpy", [BYTES, BYTES, INDEX])
    with flushing_subnormals(emit), emit.loop(count):
        builder.call(step, [inputs, outputs, workspace])
        with emit.loop(results) as index:
            place = builder.gep(outputs, [index])
            pointer, size = builder.load(place), builder.load(builder.gep(sizes, [index]))
            with builder.if_else(builder.icmp_signed("<", index, carried)) as (
                is_carried,
                is_other,
            ):
                with is_carried:
                    target = builder.load(builder.gep(inputs, [builder.add(first, index)]))
                    no_flag = ir.Constant(ir.IntType(1), 0)
                    builder.call(copy, [target, pointer, size, no_flag])
                with is_other:
                    builder.store(builder.gep(pointer, [size]), place)
    emit.finish()


def _add_tiles(module: ir.Module, step: ir.Function) -> None:
    """Add a loop: after each call the pointers of arguments and results move on."""
    lengths = [INDEX.as_pointer()] * 2
    kind = [POINTERS, POINTERS, *lengths, *[INDEX] * 3, BYTES]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kind), "tiles")
    inputs, outputs, of_inputs, of_outputs, taken, returned, count, workspace = function.args
    emit = Emitter(module, function)
    builder = emit.builder
    with flushing_subnormals(emit), emit.loop(count):
        builder.call(step, [inputs, outputs, workspace])
        for table, steps, number in ((inputs, of_inputs, taken), (outputs, of_outputs, returned)):
            with emit.loop(number) as index:
                place = builder.gep(table, [index])
                length = builder.load(builder.gep(steps, [index]))
                builder.store(builder.gep(builder.load(place), [length]), place)
    emit.finish()


def _form(output: Operand) -> Variable:
    """Return shape and type of a result."""
    if isinstance(output, Variable):
        return output
    return Variable(output.elements.shape, output.elements.dtype)


def _pointer(builder: ir.IRBuilder, table: ir.Value, index: int, element: ir.Type) -> ir.Value:
    pointer = builder.load(builder.gep(table, [ir.Constant(INDEX, index)]))
    return builder.bitcast(pointer, element.as_pointer())


def _addresses(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.asarray([array.ctypes.data for array in arrays], np.uint64)


def _require(arrays: Sequence[np.ndarray], like: Sequence[jax.ShapeDtypeStruct], name: str) -> None:
    if len(arrays) != len(like):
        message = f"got {len(arrays)} {name}s; must be {len(like)}"
        raise ValueError(message)
    for index, (array, form) in enumerate(zip(arrays, like, strict=True)):
        if array.shape != form.shape or array.dtype != form.dtype:
            message = (
                f"{name} {index}: got {array.dtype}{list(array.shape)}; must be "
                f"{form.dtype}{list(form.shape)}"
            )
            raise ValueError(message)
        if not array.flags.c_contiguous:
            message = f"{name} {index}: must be contiguous"
            raise ValueError(message)
