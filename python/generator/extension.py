# SPDX-License-Identifier: MIT
"""The extension module carom._carom: the public headers through cffi."""
import pathlib

import cffi

import headers

HERE = pathlib.Path(__file__).parent
DECLARATIONS = """
typedef struct carom_py_watch { void *handle; int to_end; } carom_py_watch;
typedef struct carom_py_column { uint16_t offset; uint8_t size, is_points; } carom_py_column;
typedef struct carom_py_shared { carom_py_watch watch; carom_list_totals totals; carom_error err; } carom_py_shared;
int carom_py_progress(void *user, uint64_t done, uint64_t count);
int carom_py_ask(int number, void *subject, void *desc, int which, const carom_py_column *column, uint32_t columns,
                 char *block, uint64_t rows, carom_stats *stats, carom_py_shared *shared);
extern "Python" int carom_py_report(void *user, uint64_t done, uint64_t count);
extern "Python" void carom_py_log(void *user, carom_log_level level, const char *message);
"""


def builder(include, library, is_bundled):
    """The cffi builder; `library` is the folder of libcarom.so, which is copied beside the module if it is bundled."""
    ffi = cffi.FFI()
    opencl = headers.opencl_declarations(include)
    ffi.cdef(headers.declarations(include) + opencl + DECLARATIONS)
    ffi.set_source(
        "carom._carom",
        (HERE / "extension.c").read_text() + opencl,
        sources=["calls/calls.c"],
        include_dirs=[str(include), str(HERE.parents[1])],
        library_dirs=[str(library)],
        libraries=["carom"],
        extra_link_args=["-Wl,-rpath,$ORIGIN"] if is_bundled else [],
        py_limited_api=True,
    )
    return ffi
