# SPDX-License-Identifier: MIT
"""The Python package: builds the library with CMake, generates the calls (python/generator), compiles the extension.

CAROM_BUILD_DIR names a CMake build folder that has the shared library already; else build/python is made. With
CAROM_SYSTEM_LIBRARY the library is not put into the package: the system has it, as Debian's packages do.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "python/generator"))
import extension  # noqa: E402
import generate  # noqa: E402

LIBRARY = "libcarom.so"
IS_BUNDLED = not os.environ.get("CAROM_SYSTEM_LIBRARY")
PROGRAM = "carom-files"  # reads and writes files (python/carom/_files.py)


def library_folder():
    """The folder of the shared library, which is built if none is named."""
    named = os.environ.get("CAROM_BUILD_DIR")
    if named:
        if not (pathlib.Path(named) / LIBRARY).exists():
            sys.exit(f"CAROM_BUILD_DIR={named}: there is no {LIBRARY}")
        return pathlib.Path(named).resolve()
    folder = ROOT / "build/python"
    subprocess.run(
        [
            "cmake",
            "-S",
            ROOT,
            "-B",
            folder,
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCAROM_CLI=OFF",
            "-DCAROM_FILES=ON",
            "-DCAROM_DEMO=OFF",
            "-DCAROM_TESTS=OFF",
            "-DCAROM_SHARED=ON",
        ],
        check=True,
    )
    subprocess.run(["cmake", "--build", folder, "--target", "carom", "carom_files"], check=True)
    return folder


class BuildExtension(build_ext):
    def run(self):
        library = library_folder()
        package = ROOT / "python/carom" if self.inplace else pathlib.Path(self.build_lib) / "carom"
        package.mkdir(parents=True, exist_ok=True)
        for old in package.glob(f"{LIBRARY}*"):  # of an earlier version
            old.unlink()
        generate.main(ROOT / "include", generate.table_of_calls(ROOT, self.build_temp), package)
        files = []
        if IS_BUNDLED:
            files.append((library / LIBRARY).resolve().name.rsplit(".", 1)[0])
            shutil.copyfile(library / LIBRARY, package / files[0])
        if (library / PROGRAM).exists():
            shutil.copy(library / PROGRAM, package / PROGRAM)
            files.append(PROGRAM)
        else:
            print(f"{library}: there is no {PROGRAM}, so carom.open_mesh, read and write will raise an error")
        if files and IS_BUNDLED and shutil.which("strip"):
            subprocess.run(["strip", "--strip-debug", *(package / file for file in files)], check=True)
        self.extensions[0].library_dirs = [str(library)]
        self.extensions[0].depends = [str(path) for path in (ROOT / "include/carom").glob("*.h")]
        super().run()


class Wheel(bdist_wheel):
    def get_tag(self):  # cffi's API mode uses the stable ABI
        python, abi, platform = super().get_tag()
        return ("cp311", "abi3", platform) if python.startswith("cp") else (python, abi, platform)


setup(
    ext_modules=[extension.builder(ROOT / "include", ".", IS_BUNDLED).distutils_extension("build/python-extension")],
    cmdclass={"build_ext": BuildExtension, "bdist_wheel": Wheel},
)
