"""The C core's types, or an ImportError that says why there are none.

The only file that imports compiled code. The types are a module of their own inside the library
that cffi built (csrc/python/module.c): loading that module directly leaves cffi out of the start of
a program that never calls the plain C functions, ``fixedstep._core.lib``.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader

from .time import Step as Step

if sys.implementation.name != "cpython":
    raise ImportError(
        f"fixedstep.native is types in C, which {sys.implementation.name} does not have; "
        "FIXEDSTEP_BACKEND=auto runs the reference's types there"
    )
if sys.platform == "emscripten":
    raise ImportError("in a browser fixedstep is pure Python; it has no C core there")
_library = find_spec("fixedstep._core")
if _library is None or _library.origin is None:
    raise ImportError(
        "fixedstep was installed without its C core, or a freezer left fixedstep._core out; with a "
        "C compiler at hand, FIXEDSTEP_BUILD=require pip install --force-reinstall --no-cache-dir "
        "--no-binary fixedstep fixedstep builds it or says what fails; FIXEDSTEP_BACKEND=reference "
        "does without"
    )


def _seen_by_freezers() -> None:
    """Never called. PyInstaller and its kin bundle what an import names, and `find_spec` names
    nothing to them: a game that was frozen ran on the reference core."""
    import fixedstep._core  # noqa: F401


_loader = ExtensionFileLoader("fixedstep._types", _library.origin)
_spec = spec_from_loader("fixedstep._types", _loader)
_types = module_from_spec(_spec)
_loader.exec_module(_types)

FrameLoop = _types.FrameLoop
FramePlan = _types.FramePlan
FrameStats = _types.FrameStats
FrameTiming = _types.FrameTiming
StateHash = _types.StateHash
Steps = _types.Steps

__all__ = [
    "FrameLoop",
    "FramePlan",
    "FrameStats",
    "FrameTiming",
    "StateHash",
    "Step",
    "Steps",
    "build_info",
    "digest",
]


def digest(value: object, /) -> int:
    """The digest of a value, whatever it is: ``StateHash().absorb(value).finish()``.

    >>> digest([1, 2]) == digest([1, 2]) != digest([1, 2.0])
    True

    An integer, ``0 .. 2**64 - 1``. Raises what `StateHash.absorb` raises.
    """
    return StateHash().absorb(value).finish()


def build_info() -> dict[str, str]:
    """What compiled the core, its ABI, and where it lies: ``compiler``, ``abi``, ``extension``."""
    return {
        "compiler": _types.COMPILER,
        "abi": _types.ABI,
        "extension": _library.origin,
    }
