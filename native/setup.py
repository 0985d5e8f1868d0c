"""Builds the module for the stable interface of Python 3.11; a C++17 compiler is all it takes."""

import glob
import hashlib
import os
import sys

from setuptools import Extension, setup

if sys.platform == "win32":
    compiling, linking = ["/std:c++17", "/O2", "/EHsc"], []
else:
    compiling, linking = ["-std=c++17", "-O3", "-fvisibility=hidden", "-Wall", "-Wextra"], ["-pthread"]
# For tests: what is added here, such as -fsanitize=address,undefined.
more = os.environ.get("RANKGAUGE_NATIVE_FLAGS", "").split()
objects = hashlib.sha256(" ".join(more).encode()).hexdigest()[:12] if more else "plain"

setup(
    ext_modules=[
        Extension(
            "rankgauge_native",
            ["src/module.cpp"],
            depends=sorted(glob.glob("src/*.hpp")),
            language="c++",
            extra_compile_args=[*compiling, *more],
            extra_link_args=[*linking, *more],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
    ],
    # Objects compiled with other flags are not this build's: setuptools would take them up without a look.
    options={"bdist_wheel": {"py_limited_api": "cp311"}, "build": {"build_base": f"build/{objects}"}},
)
