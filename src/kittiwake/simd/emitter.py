"""Emission of instructions of LLVM: constants, vectors, memory and loops."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import INDEX, scalar_type, stored_type, wide, width_of
from kittiwake.simd.workspace import ALIGNMENT, Workspace

# more lie in the workspace
MAX_STACK_BYTES = 512
# registers of 64 bytes that an array may take; longer ones lie in memory
MAX_REGISTERS = 4


class Emitter:
    """Emitter of the instructions of one function.

    Attributes:
        module: the module.
        builder: where the next instruction goes.
        workspace: places in the memory that the last argument of the function points to.
        reservations: what was reserved there.
        block: number of elements that a loop over memory takes at once.
    """

    def __init__(self, module: ir.Module, function: ir.Function, block: int = 8) -> None:
        self.module, self.function, self.block = module, function, block
        # memory of the function is reserved in a block of its own, before any loop
        self._reserved = function.append_basic_block("reserved")
        self._body = function.append_basic_block("body")
        self.builder = ir.IRBuilder(self._body)
        self.workspace = Workspace()
        # pointer and place of each, None once it is released
        self.reservations: list[tuple[ir.Value, int] | None] = []
        self._tables: dict[tuple[str, bytes], ir.Value] = {}

    @property
    def max_elements(self) -> int:
        """Number of elements of the longest arrays that do not lie in memory."""
        return MAX_REGISTERS * self.block

    def finish(self, result: ir.Value | None = None) -> None:
        """End the function, with its result."""
        if result is None:
            self.builder.ret_void()
        else:
            self.builder.ret(result)
        ir.IRBuilder(self._reserved).branch(self._body)

    def call(self, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
        """Call a function or an intrinsic by its mangled name."""
        function = self.module.globals.get(name)
        if function is None:
            types = [argument.type for argument in arguments]
            function = ir.Function(self.module, ir.FunctionType(result, types), name)
        return self.builder.call(function, arguments)

    def intrinsic(self, name: str, *arguments: ir.Value) -> ir.Value:
        """Call an intrinsic whose arguments and result have one type."""
        kind = arguments[0].type
        return self.call(f"llvm.{name}.{_mangled(kind)}", kind, *arguments)

    def constant(self, values: np.ndarray) -> ir.Constant:
        """Return a register with known elements."""
        flat = np.ravel(values)
        element = scalar_type(flat.dtype)
        numbers = [float(x) if flat.dtype.kind == "f" else int(x) for x in flat]
        if len(numbers) == 1:
            return ir.Constant(element, numbers[0])
        return ir.Constant(wide(element, len(numbers)), [ir.Constant(element, x) for x in numbers])

    def splat(self, number: float | int, dtype: np.dtype, width: int) -> ir.Constant:
        """Return a register of equal known elements."""
        return self.constant(np.full(width, number, dtype))

    def repeat(self, value: ir.Value, width: int) -> ir.Value:
        """Return a register of one element that is repeated."""
        if width == 1:
            return value
        kind = wide(value.type, width)
        first = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), value, ir.Constant(INDEX, 0)
        )
        return self._shuffled(first, first, [0] * width)

    def element(self, value: ir.Value, index: int) -> ir.Value:
        """Return an element of a register."""
        if width_of(value) == 1:
            return value
        return self.builder.extract_element(value, ir.Constant(INDEX, index))

    def rearranged(self, value: ir.Value, indices: Sequence[int | None]) -> ir.Value:
        """Return a register of some elements of another one; None for any."""
        if len(indices) == 1:
            return self.element(value, indices[0] or 0)
        if width_of(value) == 1:
            return self.repeat(value, len(indices))
        if list(indices) == list(range(width_of(value))):
            return value
        return self._shuffled(value, value, indices)

    def chosen(self, one: ir.Value, other: ir.Value, from_other: Sequence[bool]) -> ir.Value:
        """Return a register whose elements are from one of two with the same width."""
        width = len(from_other)
        if width == 1:
            return other if from_other[0] else one
        return self._shuffled(one, other, [i + width * own for i, own in enumerate(from_other)])

    def _shuffled(self, one: ir.Value, other: ir.Value, indices: Sequence[int | None]) -> ir.Value:
        word = ir.IntType(32)
        parts = [ir.Constant(word, 0 if i is None else i) for i in indices]
        mask = ir.Constant(ir.VectorType(word, len(parts)), parts)
        return self.builder.shuffle_vector(one, other, mask)

    def reserve(self, count: int, dtype: np.dtype) -> ir.Value:
        """Return a pointer to memory for so many elements."""
        at_start, kind = ir.IRBuilder(self._reserved), stored_type(dtype).as_pointer()
        if count * dtype.itemsize <= MAX_STACK_BYTES:
            array = at_start.alloca(ir.ArrayType(stored_type(dtype), max(count, 1)))
            array.align = ALIGNMENT
            return at_start.bitcast(array, kind)
        place = self.workspace.reserve(count * dtype.itemsize)
        pointer = at_start.gep(self.function.args[-1], [ir.Constant(INDEX, place)])
        memory = at_start.bitcast(pointer, kind)
        self.reservations.append((memory, place))
        return memory

    def release(self, number: int) -> None:
        """Let others use a reservation, by its number; what is released already stays so."""
        reservation = self.reservations[number]
        if reservation is not None:
            self.workspace.release(reservation[1])
            self.reservations[number] = None

    def table(self, values: np.ndarray) -> ir.Value:
        """Return a pointer to known elements."""
        flat = np.ravel(values)
        flat = flat.astype(np.int8) if flat.dtype == np.bool_ else flat
        key = flat.dtype.str, flat.tobytes()
        if key not in self._tables:
            element = scalar_type(flat.dtype)
            kind = ir.ArrayType(element, len(flat))
            known = ir.GlobalVariable(self.module, kind, f"table{len(self._tables)}")
            numbers = [float(x) if flat.dtype.kind == "f" else int(x) for x in flat]
            known.initializer = ir.Constant(kind, [ir.Constant(element, x) for x in numbers])
            known.global_constant, known.linkage, known.align = True, "internal", 64
            at_start = ir.IRBuilder(self._reserved)
            self._tables[key] = at_start.bitcast(known, element.as_pointer())
        return self._tables[key]

    def load(
        self, pointer: ir.Value, index: ir.Value | int, dtype: np.dtype, width: int
    ) -> ir.Value:
        """Return elements in memory, from an index on."""
        kind = wide(stored_type(dtype), width)
        value = self.builder.load(self._place(pointer, index, kind), align=dtype.itemsize)
        return self.builder.trunc(value, wide(ir.IntType(1), width)) if dtype == np.bool_ else value

    def store(
        self, value: ir.Value, pointer: ir.Value, index: ir.Value | int, dtype: np.dtype
    ) -> None:
        """Write elements into memory, from an index on."""
        width = width_of(value)
        kind = wide(stored_type(dtype), width)
        if dtype == np.bool_:
            value = self.builder.zext(value, kind)
        self.builder.store(value, self._place(pointer, index, kind), align=dtype.itemsize)

    def _place(self, pointer: ir.Value, index: ir.Value | int, kind: ir.Type) -> ir.Value:
        place = self.builder.gep(pointer, [self.index(index)])
        return self.builder.bitcast(place, kind.as_pointer())

    def index(self, index: ir.Value | int) -> ir.Value:
        """Return an index as a register."""
        return ir.Constant(INDEX, index) if isinstance(index, int) else index

    def copy(self, source: ir.Value, target: ir.Value, count: int, dtype: np.dtype) -> None:
        """Copy elements from memory to memory."""
        for start, width in self.blocks(count):
            self.store(self.load(source, start, dtype, width), target, start, dtype)

    def blocks(self, count: int) -> Iterator[tuple[ir.Value | int, int]]:
        """Yield first index and width of blocks of a loop over elements, and of those left over.

        The body of the ``for`` statement emits the body of the loop.
        """
        block = self.block
        whole = count // block * block
        if whole == block:
            yield 0, block
        elif whole:
            with self.loop(whole // block) as step:
                yield self.builder.mul(step, ir.Constant(INDEX, block)), block
        if count > whole:
            yield whole, count - whole

    @contextmanager
    def loop(self, count: ir.Value | int) -> Generator[ir.Value]:
        """Emit a loop around what is emitted inside; its value is the number of the pass."""
        builder, function = self.builder, self.function
        before = builder.block
        head, body, after = (
            function.append_basic_block(name) for name in ("head", "body", "after")
        )
        builder.branch(head)
        builder.position_at_end(head)
        step = builder.phi(INDEX)
        step.add_incoming(ir.Constant(INDEX, 0), before)
        builder.cbranch(builder.icmp_signed("<", step, self.index(count)), body, after)
        builder.position_at_end(body)
        yield step
        step.add_incoming(builder.add(step, ir.Constant(INDEX, 1)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    def loop_while(self, condition: Callable[[], ir.Value], body: Callable[[], None]) -> None:
        """Emit a loop that tests a flag before each pass."""
        builder, function = self.builder, self.function
        head, inside, after = (
            function.append_basic_block(name) for name in ("head", "body", "after")
        )
        builder.branch(head)
        builder.position_at_end(head)
        builder.cbranch(condition(), inside, after)
        builder.position_at_end(inside)
        body()
        builder.branch(head)
        builder.position_at_end(after)


def _mangled(kind: ir.Type) -> str:
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{_mangled(kind.element)}"
    if isinstance(kind, ir.IntType):
        return f"i{kind.width}"
    return "f64" if isinstance(kind, ir.DoubleType) else "f32"
