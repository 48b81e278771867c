"""Machine code of a module, by LLVM."""

import ctypes
from collections.abc import Sequence
from functools import cache
from itertools import count

import llvmlite.binding as llvm
import llvmlite.ir as ir
from llvmlite.binding.initfini import llvm_version_info

_numbers = count()

# longer programs are optimized briefly
MAX_THOROUGH_CHARACTERS = 2_500_000


def object_code(module: ir.Module) -> bytes:
    """Return the object file of a module."""
    machine = _target_machine()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    text = str(module)
    parsed = llvm.parse_assembly(text)
    _optimize(parsed, machine, briefly=len(text) > MAX_THOROUGH_CHARACTERS)
    return machine.emit_object(parsed)


class MachineCode:
    """Functions of an object file, loaded as long as the object lives."""

    def __init__(self, built: bytes, names: Sequence[str]) -> None:
        """Load the functions of these names."""
        library = llvm.JITLibraryBuilder().add_object_img(built).add_current_process()
        for name in names:
            library.export_symbol(name)
        self._library = library.link(_compiler(), f"kittiwake{next(_numbers)}")

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return self._library[name]


def target_description() -> str:
    """Return what machine code is made for and by: processor, its features, version of LLVM."""
    machine = _target_machine()
    return " ".join(
        (
            machine.triple,
            llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten(),
            ".".join(map(str, llvm_version_info)),
        )
    )


def is_x86() -> bool:
    """Return True if code is generated for a processor of that kind."""
    return _target_machine().triple.startswith(("x86_64", "i686"))


def _optimize(parsed: llvm.ModuleRef, machine: llvm.TargetMachine, *, briefly: bool) -> None:
    """Run the passes that straight code gains from; loops are vectors already.

    Args:
        parsed: the module.
        machine: for what it is optimized.
        briefly: True without those for loops, whose time grows faster than the code.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    if not briefly:
        builder.getModulePassManager().run(parsed, builder)
        return
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_new_gvn_pass()
    passes.add_dead_code_elimination_pass()
    passes.run(parsed, builder)


@cache
def _target_machine() -> llvm.TargetMachine:
    _load_mathematics()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    # with the small code model LLVM ends the process where code and constants lie far apart
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="static",
        codemodel="large",
    )


@cache
def _compiler() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(_target_machine())


def _load_mathematics() -> None:
    """Make the functions of C's mathematical library known to the linker."""
    for name in ("libm.so.6", "libm.dylib"):
        try:
            ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        return
