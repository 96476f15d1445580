"""Testudo: what is installed can be found and used in every promised way.

Usage: test_install.py COMPILER BUILD_DIR

SPDX-License-Identifier: BSD-2-Clause
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMPILER, BUILD = sys.argv[1:]
CLIENT = pathlib.Path(__file__).resolve().parent / "install_client"
TOP = CLIENT.parent.parent


def output(*command, **environment):
    """The standard output of a command that must succeed."""
    done = subprocess.run(command, env={**os.environ, **environment},
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.room = pathlib.Path(cls.holder.name)
        cls.prefix = cls.room / "prefix"
        output("cmake", "--install", BUILD, "--prefix", str(cls.prefix))
        package, = cls.prefix.rglob("testudo.pc")
        cls.package = str(package.parent)
        cls.library = str(package.parent.parent)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def check_client(self, program):
        self.assertEqual(output(str(program), LD_LIBRARY_PATH=self.library),
                         "reserved 1\n")

    def compile(self, name, *flags):
        """Build the client with FLAGS and run it."""
        program = self.room / name
        output(COMPILER, "-o", str(program), str(CLIENT / "client.c"), *flags)
        self.check_client(program)
        return program

    def needed(self, program):
        """Names of the shared objects that PROGRAM needs."""
        return output("readelf", "-d", str(program))

    def flags(self, package, *options, path=None):
        return output("pkg-config", "--cflags", "--libs", *options, package,
                      PKG_CONFIG_PATH=path or self.package).split()

    def test_pkg_config(self):
        for package in ("testudo", "mps"):
            program = self.compile(f"by_{package}", *self.flags(package))
            self.assertIn("libtestudo.so.0.1", self.needed(program))

    def configure(self, name, *options):
        """The package that is made for other directories."""
        build = self.room / f"{name}_build"
        output("cmake", "-S", str(TOP), "-B", str(build),
               f"-DCMAKE_C_COMPILER={COMPILER}", "-DTESTUDO_TESTS=OFF",
               f"-DCMAKE_INSTALL_PREFIX={self.room / name}", *options)
        return build / "testudo.pc"

    def test_pkg_config_absolute(self):
        libraries, headers = self.room / "libraries", self.room / "headers"
        shutil.copytree(self.library, libraries, symlinks=True)
        shutil.copytree(self.prefix / "include", headers, symlinks=True)
        absolute = f"-DCMAKE_INSTALL_INCLUDEDIR={headers}"
        shutil.copy(self.configure(
            "absolute", absolute, f"-DCMAKE_INSTALL_LIBDIR={libraries}"),
            libraries / "pkgconfig")
        self.compile("by_absolute", *self.flags(
            "testudo", path=str(libraries / "pkgconfig")))
        # One is absolute, and the other goes where the prefix goes.
        moved = self.room / "moved" / "deeper" / "lib"
        shutil.copytree(libraries, moved, symlinks=True)
        shutil.copy(self.configure("half", absolute,
                                   "-DCMAKE_INSTALL_LIBDIR=lib"),
                    moved / "pkgconfig")
        flags = self.flags("testudo", path=str(moved / "pkgconfig"))
        self.assertIn(f"-I{headers}/testudo", flags)
        self.compile("by_half", *flags)

    def test_pkg_config_static(self):
        flags = self.flags("testudo", "--static")
        program = self.compile("static", "-static", *flags)
        self.assertNotIn("libtestudo", self.needed(program))

    def test_lmps(self):
        program = self.compile("by_lmps", f"-I{self.prefix}/include",
                               f"-L{self.library}", "-lmps")
        self.assertIn("libtestudo.so.0.1", self.needed(program))

    def test_archive_needs_libc_only(self):
        program = self.compile("by_archive", f"-I{self.prefix}/include",
                               f"{self.library}/libmps.a")
        self.assertEqual(re.findall(r"NEEDED.*\[(.*)\]",
                                    self.needed(program)), ["libc.so.6"])

    def test_cmake_package(self):
        build = self.room / "build"
        output("cmake", "-S", str(CLIENT), "-B", str(build),
               f"-DCMAKE_C_COMPILER={COMPILER}",
               f"-DCMAKE_PREFIX_PATH={self.prefix}")
        output("cmake", "--build", str(build))
        for kind in ("testudo", "testudo_static"):
            self.check_client(build / f"client_{kind}")

    def test_part_of_a_project(self):
        """One that has files, and a target, of the same names as ours."""
        parent = self.room / "parent"
        (parent / "cmake").mkdir(parents=True)
        for path in (TOP / "cmake").glob("*.cmake"):
            (parent / "cmake" / path.name).write_text(
                'message(FATAL_ERROR "not meant")\n')
        (parent / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.21)\n"
            "project(Parent LANGUAGES C)\n"
            'list(APPEND CMAKE_MODULE_PATH "${PROJECT_SOURCE_DIR}/cmake")\n'
            "add_custom_target(manual)\n"
            f'add_subdirectory("{TOP}" testudo)\n')
        output("cmake", "-S", str(parent), "-B", str(self.room / "whole"),
               f"-DCMAKE_C_COMPILER={COMPILER}")

    def test_files(self):
        for name in ("bin/testudo-scheme", "bin/testudo",
                     "include/testudo/mps.h", "include/testudo/testudo.h",
                     "share/testudo/workload/leaf.scm"):
            self.assertTrue((self.prefix / name).is_file(), name)
        # What Python leaves beside the sources is not installed.
        self.assertEqual(list(self.prefix.rglob("__pycache__")), [])

    def test_tool(self):
        tool = str(self.prefix / "bin/testudo")
        self.assertIn("count the system calls", output(tool, "--help"))
        version = re.search(r"project\(\w+ VERSION (\S+)",
                            (TOP / "CMakeLists.txt").read_text()).group(1)
        self.assertEqual(output(tool, "--version"), f"testudo {version}\n")

    def test_scheme(self):
        program = self.room / "sum.scm"
        program.write_text("(display (+ 1 2))\n(newline)\n")
        self.assertEqual(output(str(self.prefix / "bin/testudo-scheme"),
                                str(program)), "3\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
