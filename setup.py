"""Builds the C core, or says loudly that it did not. Every static fact is in pyproject.toml.

``FIXEDSTEP_BUILD`` is ``auto`` (a core that does not compile is left out, with a banner),
``require`` (it is an error; what CI and wheels use) or ``skip`` (pure Python on purpose).
"""

import gzip
import io
import os
import sys
import sysconfig
import tarfile
from importlib.util import find_spec
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import SetupError

MODE = os.environ.get("FIXEDSTEP_BUILD", "auto")
if MODE not in ("auto", "require", "skip"):
    sys.exit(f"FIXEDSTEP_BUILD must be auto, require or skip, not {MODE!r}; unset it for auto")

BANNER = """
***********************************************************************
* fixedstep: the C core did NOT compile. Installing the pure-Python    *
* core instead: the same results, many times slower. The compiler's    *
* message is above; `python -m fixedstep info` tells which core runs.  *
* FIXEDSTEP_BUILD=require makes this an error. pip keeps this wheel:   *
* the next try needs --force-reinstall --no-cache-dir, and             *
* --no-binary fixedstep.                                               *
***********************************************************************
"""


class BuildCore(build_ext):
    """build_ext whose failure is final or not, as FIXEDSTEP_BUILD says."""

    def build_extension(self, ext: Extension) -> None:
        """Compile; with ``auto``, a failure prints the banner and setuptools goes on."""
        ext.optional = MODE == "auto"
        words = getattr(self.compiler, "compiler_so", ["-O"])  # a list where flags are Unix's
        if not any(word.startswith("-O") for word in words):
            # Recent setuptools let CFLAGS replace Python's own flags, -O3 and all: one about
            # something else would make a core without optimisation, and nobody would notice
            ext.extra_compile_args += ["-O3", "-DNDEBUG"]
        if getattr(self.compiler, "compiler_type", "") == "unix":
            # -ffast-math among the user's flags would set a mode of the processor for the whole
            # program, in which the smallest numbers are 0
            ext.extra_compile_args += ["-fno-fast-math"]
            # only the two PyInit_ functions are seen: a program that has an fs_hash_bytes of its
            # own would give it to the core, or get the core's
            ext.extra_compile_args += ["-fvisibility=hidden"]
            # a debugger is told the folder of the build, and the build-id depends on it: without,
            # one source gives one file wherever it is built
            ext.extra_compile_args += [f"-fdebug-prefix-map={os.getcwd()}=."]
            ext.extra_link_args += ["-fno-fast-math"]
        try:
            if not ext.sources:
                print("error: cffi, which generates the binding, is not installed", file=sys.stderr)
                raise SetupError("without build isolation, pip install cffi first")
            super().build_extension(ext)
        except Exception:
            if ext.optional:
                print(BANNER, file=sys.stderr, flush=True)
                # the wheel has no compiled file, and its name must say so
                self.distribution.ext_modules = []
                wheel: Any = self.get_finalized_command("bdist_wheel")
                wheel.root_is_pure = True
            raise


class PlainSdist(sdist):
    """sdist that holds no user, and no other time than SOURCE_DATE_EPOCH where that is set."""

    def make_archive(self, *given: Any, **named: Any) -> str:
        """Write the archive again: setuptools puts the time and the owner of each file into it."""
        made = str(super().make_archive(*given, **named))
        if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
            plain = io.BytesIO()
            with tarfile.open(made) as old, tarfile.open(fileobj=plain, mode="w") as new:
                for file in sorted(filter(tarfile.TarInfo.isfile, old), key=lambda file: file.name):
                    entry = tarfile.TarInfo(file.name)
                    entry.size, entry.mtime, entry.mode = file.size, int(epoch), 0o644
                    new.addfile(entry, old.extractfile(file))
            with open(made, "wb") as out:
                out.write(gzip.compress(plain.getvalue(), mtime=int(epoch)))
        return made


cpython = sys.implementation.name == "cpython"
native = MODE != "skip" and (cpython or sys.implementation.name == "pypy")
cffi = native and find_spec("cffi") is not None
limited = native and cpython and not sysconfig.get_config_var("Py_GIL_DISABLED")
setup(
    # asked for here and not in pyproject.toml, so that skip needs none; PyPy has its own
    setup_requires=["cffi>=1.17"] if native and cpython else [],
    cffi_modules=["csrc/build.py:ffi"] if cffi else [],
    ext_modules=[Extension("fixedstep._core", [])] if native and not cffi else [],
    cmdclass={"build_ext": BuildCore, "sdist": PlainSdist},
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if limited else {},
)
