"""Kernels: compiled programs that are called with arrays of NumPy."""

import ctypes
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import llvmlite.ir as ir
import numpy as np
from jax.extend.core import ClosedJaxpr

from kittiwake.simd.code_generation import MachineCode, object_code
from kittiwake.simd.data_types import BYTES, INDEX, elements_per_register, stored_type
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import FlatProgram, Operand, Variable
from kittiwake.simd.float_mode import flushing_subnormals
from kittiwake.simd.hoisting import hoisted
from kittiwake.simd.loops import flat_program
from kittiwake.simd.moves import with_moves
from kittiwake.simd.rules import ELEMENTWISE, RULES
from kittiwake.simd.support import UnsupportedError, missing_rules
from kittiwake.simd.translator import Translator
from kittiwake.simd.values import Register, Stored, Value
from kittiwake.simd.workspace import ALIGNMENT

POINTERS = BYTES.as_pointer()
POINTER_TYPES = [ctypes.c_void_p] * 3


@dataclass(frozen=True)
class CompiledProgram:
    """A compiled program as data, which another process on the same machine can load.

    Attributes:
        inputs: shapes and types of its arguments; keys are words, with a first axis of two.
        outputs: those of its results.
        workspace_bytes: size of the memory that a call needs.
        code: object file.
    """

    inputs: tuple[jax.ShapeDtypeStruct, ...]
    outputs: tuple[jax.ShapeDtypeStruct, ...]
    workspace_bytes: int
    code: bytes

    def to_bytes(self) -> bytes:
        """Return the program as a line of JSON and the object file."""
        head = {
            "inputs": [[one.shape, one.dtype.str] for one in self.inputs],
            "outputs": [[one.shape, one.dtype.str] for one in self.outputs],
            "workspace_bytes": self.workspace_bytes,
        }
        return json.dumps(head).encode() + b"\n" + self.code

    @classmethod
    def from_bytes(cls, content: bytes) -> "CompiledProgram":
        """Return what ``to_bytes`` has written; content of another origin must not be loaded."""
        line, _, code = content.partition(b"\n")
        head = json.loads(line)
        inputs, outputs = (
            tuple(jax.ShapeDtypeStruct(tuple(shape), np.dtype(dtype)) for shape, dtype in head[key])
            for key in ("inputs", "outputs")
        )
        return cls(inputs, outputs, head["workspace_bytes"], code)


class Kernel:
    """A compiled program that can be called.

    Attributes:
        program: the compiled program.
        inputs: shapes and types of its arguments; keys are words, with a first axis of two.
        outputs: those of its results.
        code_bytes: size of the object file.
    """

    def __init__(self, program: CompiledProgram) -> None:
        self.program = program
        self.inputs, self.outputs = program.inputs, program.outputs
        self.code_bytes = len(program.code)
        self._workspace_bytes = program.workspace_bytes
        self._code = MachineCode(program.code, ("call", "tiles"))
        self._call = ctypes.PYFUNCTYPE(None, *POINTER_TYPES)(self._code.address("call"))
        self._tiles = ctypes.CFUNCTYPE(
            None, *[ctypes.c_void_p] * 7, *[ctypes.c_int64] * 5, ctypes.c_void_p
        )(self._code.address("tiles"))

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

    def bind_tiles(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], carried: int = 0
    ) -> "BoundTiles":
        """Return a function of a range of tiles, each of which is one call of the kernel or many.

        Calls for different ranges may run at the same time in several threads.

        Args:
            inputs: contiguous arrays as ``inputs`` say, or with a first axis of tiles.
            outputs: contiguous arrays as ``outputs`` say, or with a first axis of tiles; those
                without are written in each call. After those that are carried an axis of the
                calls of a tile may follow it.
            carried: number of first results that are the last arguments of the next call of their
                tile, and have the same shape as these.

        Raises:
            ValueError: for another number of arrays, or another shape, type or order of one.
        """
        return BoundTiles(self._tiles, inputs, outputs, carried, self)

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
        carried: int,
        kernel: Kernel,
    ) -> None:
        first = [_of_one_call(*each) for each in zip(inputs, kernel.inputs, strict=True)]
        _require(first, kernel.inputs, "input")
        first = [_of_one_call(*each) for each in zip(outputs, kernel.outputs, strict=True)]
        _require(first, kernel.outputs, "output")
        own = len(inputs) - carried
        for index in range(carried):
            if inputs[own + index].shape != outputs[index].shape:
                message = f"output {index}: must have the shape of input {own + index}"
                raise ValueError(message)
        self._call, self._kernel, self._arrays = call, kernel, (*inputs, *outputs)
        addresses = _addresses(self._arrays).astype(np.int64)
        # after an odd number of calls what is carried has changed its side
        swapped = addresses.copy()
        carried_inputs = slice(own, len(inputs))
        carried_outputs = slice(len(inputs), len(inputs) + carried)
        swapped[carried_inputs] = addresses[carried_outputs]
        swapped[carried_outputs] = addresses[carried_inputs]
        self._addresses = np.stack([addresses, swapped])
        stacked = [
            array.ndim - len(like.shape) == 2
            for array, like in zip(outputs[carried:], kernel.outputs[carried:], strict=True)
        ]
        self._most_calls = min(
            [
                array.shape[1]
                for array, several in zip(outputs[carried:], stacked, strict=True)
                if several
            ],
            default=None,
        )
        # from tile to tile, and from call to call of a tile
        self._tile_steps = np.asarray(
            [
                array.nbytes // len(array) if array.ndim > len(like.shape) else 0
                for array, like in zip(
                    (*inputs, *outputs), (*kernel.inputs, *kernel.outputs), strict=True
                )
            ],
            np.int64,
        )
        self._call_steps = np.asarray(
            [0] * carried
            + [
                array.nbytes // (array.shape[0] * array.shape[1]) if several else 0
                for array, several in zip(outputs[carried:], stacked, strict=True)
            ],
            np.int64,
        )
        self._counts = len(inputs), len(outputs), carried

    def __call__(self, start: int, count: int, calls: int = 1) -> None:
        """Call the kernel for some tiles, one after another, each so often.

        The last carried results are in the outputs after an odd number of calls, otherwise in the
        last inputs.

        Raises:
            ValueError: if there is no room for the results of so many calls.
        """
        if self._most_calls is not None and calls > self._most_calls:
            message = f"got {calls} calls; the outputs have room for {self._most_calls}"
            raise ValueError(message)
        addresses = self._addresses + start * self._tile_steps
        # the results of a tile that were not written
        after_tile = self._tile_steps
        if calls > 1:
            after_tile = after_tile.copy()
            after_tile[self._counts[0] :] -= calls * self._call_steps
        workspace = self._kernel.workspace()
        of_outputs = addresses.itemsize * self._counts[0]
        first = addresses.ctypes.data
        places = [first, first + addresses.nbytes // 2, after_tile.ctypes.data]
        tables = [place + offset for place in places for offset in (0, of_outputs)]
        self._call(
            *tables,
            self._call_steps.ctypes.data,
            *self._counts,
            count,
            calls,
            workspace.ctypes.data,
        )


def _of_one_call(array: np.ndarray, like: jax.ShapeDtypeStruct) -> np.ndarray:
    """Return the first part of an array that has axes of tiles and calls."""
    more = array.ndim - len(like.shape)
    return array[(0,) * more] if 0 < more <= 2 and array.flags.c_contiguous else array


class HoistedKernels(NamedTuple):
    """Two kernels that do the same as one, for calls whose first arguments stay the same.

    Attributes:
        constants: from the first arguments to what the other kernel needs of them.
        rest: from the results of the first kernel, and all arguments, to the results.
    """

    constants: Kernel
    rest: Kernel


def compile_jaxpr(closed: ClosedJaxpr) -> Kernel:
    """Return a kernel of a program.

    Raises:
        UnsupportedError: with all primitives that have no rule.
    """
    return Kernel(_compiled(_supported(closed)))


def compile_hoisted(closed: ClosedJaxpr, count: int) -> HoistedKernels:
    """Return kernels of a program whose so many first arguments stay the same for many calls.

    Raises:
        UnsupportedError: with all primitives that have no rule.
    """
    parts = hoisted(_supported(closed), count)
    return HoistedKernels(*[Kernel(_compiled(part)) for part in parts])


def _supported(closed: ClosedJaxpr) -> FlatProgram:
    program = flat_program(closed)
    missing = missing_rules(program)
    if missing:
        raise UnsupportedError(missing)
    return with_moves(program)


def _compiled(program: FlatProgram) -> CompiledProgram:
    inputs, outputs = (
        tuple(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in form)
        for form in (program.inputs, [_form(output) for output in program.outputs])
    )
    module, workspace_bytes = _module(program)
    return CompiledProgram(inputs, outputs, workspace_bytes, object_code(module))


def _module(program: FlatProgram) -> tuple[ir.Module, int]:
    """Return a module with the program as a function and a loop of it, and its workspace."""
    module = ir.Module("kernel")
    step = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTERS, POINTERS, BYTES]), "step")
    forms = [*program.inputs, *map(_form, program.outputs)]
    emit = Emitter(module, step, elements_per_register(one.dtype for one in forms))
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
    _add_tiles(module, step)
    return module, emit.workspace.size


def _add_call(module: ir.Module, step: ir.Function) -> None:
    """Add a function that calls the program once."""
    function = ir.Function(module, step.function_type, "call")
    emit = Emitter(module, function)
    with flushing_subnormals(emit):
        emit.builder.call(step, [*function.args])
    emit.finish()


def _add_tiles(module: ir.Module, step: ir.Function) -> None:
    """Add a loop over tiles, with a loop over the calls of each.

    Two pairs of tables, of arguments and of results, alternate: what one pair says is a carried
    result is an argument in the other one. After a call other results move on, after a tile all.
    """
    lengths = INDEX.as_pointer()
    kind = [*[POINTERS] * 4, *[lengths] * 3, *[INDEX] * 5, BYTES]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kind), "tiles")
    *tables, of_inputs, of_outputs, of_calls = function.args[:7]
    taken, returned, carried, count, calls, workspace = function.args[7:]
    emit = Emitter(module, function)
    builder = emit.builder

    def move(table: ir.Value, steps: ir.Value, index: ir.Value) -> None:
        place = builder.gep(table, [index])
        length = builder.load(builder.gep(steps, [index]))
        builder.store(builder.gep(builder.load(place), [length]), place)

    def table(number: int, side: ir.Value) -> ir.Value:
        return builder.select(side, tables[number + 2], tables[number])

    # with one call for each tile the second pair is not used, and no result moves on before it
    several = builder.icmp_signed(">", calls, ir.Constant(INDEX, 1))
    none = ir.Constant(INDEX, 0)
    others = builder.select(several, builder.sub(returned, carried), none)
    second = [builder.select(several, count_of, none) for count_of in (taken, returned)]
    with flushing_subnormals(emit), emit.loop(count):
        with emit.loop(calls) as number:
            side = builder.trunc(number, ir.IntType(1))
            builder.call(step, [table(0, side), table(1, side), workspace])
            with emit.loop(others) as index:
                for results in (tables[1], tables[3]):
                    move(results, of_calls, builder.add(carried, index))
        for (inputs, outputs), lengths_of in (
            (tables[:2], (taken, returned)),
            (tables[2:], second),
        ):
            with emit.loop(lengths_of[0]) as index:
                move(inputs, of_inputs, index)
            with emit.loop(lengths_of[1]) as index:
                move(outputs, of_outputs, index)
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
