"""Builds the compiled part of the encoder. It is optional: without a C compiler everything works, only slower."""

import sys
from pathlib import Path

import numpy
from setuptools import Extension, setup

NATIVE = Path("encoder") / "native"

setup(
    ext_modules=[
        Extension(
            "encoder._native",
            sources=[path.as_posix() for path in sorted(NATIVE.glob("*.c"))],
            depends=[path.as_posix() for path in sorted(NATIVE.glob("*.h"))],
            include_dirs=[numpy.get_include()],
            libraries=[] if sys.platform == "win32" else ["m"],
            # Rounding needs products and differences that are rounded one by one (encoder/native/numbers.c).
            extra_compile_args=["-O3", "-ffp-contract=off"],
            optional=True,
        )
    ]
)
