"""Checks the exchange of tensors by DLPack with NumPy and PyTorch, without copies, both ways and in both of its forms.

Needs numpy==2.4.6, torch==2.15.0 and g++ with libfmt-dev. Builds the runtime's tensors and dlpack_shim.cc into a shared
object below a temporary folder. Run it from the root of the tree: python3 tests/interop/dlpack_check.py
"""
import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

RUNTIME = ["address_space", "allocator", "allocator_source", "broadcast", "caching_allocator", "cpu/cast_elements",
           "cpu/copy", "cpu/kernels", "dispatch", "dlpack", "dtype", "error", "factories", "kernels", "memory_account",
           "memory_pool", "memory_source", "parallel_for", "segment_allocator", "shape", "storage", "stream",
           "system_memory", "tensor"]
DTYPES = ["float64", "float32", "bfloat16", "float16", "int64", "int32", "uint8", "bool"]  # in the order of DType


def build(folder):
    library = os.path.join(folder, "libdlpack_shim.so")
    sources = ["tests/interop/dlpack_shim.cc"] + [f"runtime/{name}.cc" for name in RUNTIME]
    subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-fopenmp", "-march=x86-64-v3", "-DTORUS_GPUS=0", "-I.",
                    "-o", library, *sources, "-lfmt", "-Wl,-z,defs"], check=True)
    shim = ctypes.CDLL(library)
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    for name, result, arguments in [("error", ctypes.c_char_p, []), ("export", pointer, [number, number, ctypes.c_int, ctypes.c_int]),
                                    ("import", pointer, [pointer, ctypes.c_int]), ("address", pointer, [pointer]),
                                    ("elements", None, [pointer, pointer]), ("fill", None, [pointer, ctypes.c_double]),
                                    ("release", None, [pointer])]:
        function = getattr(shim, "torus_" + name)
        function.restype, function.argtypes = result, arguments
    return shim


NEW = ctypes.pythonapi.PyCapsule_New
NEW.restype, NEW.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
POINTER = ctypes.pythonapi.PyCapsule_GetPointer
POINTER.restype, POINTER.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
RENAME = ctypes.pythonapi.PyCapsule_SetName
RENAME.restype, RENAME.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
NAMES = [b"dltensor", b"dltensor_versioned"]
USED = [b"used_dltensor", b"used_dltensor_versioned"]  # capsules keep the addresses


class Exported:
    """One of our tensors, as numpy.from_dlpack and torch.from_dlpack take it."""

    def __init__(self, shim, rows, columns, dtype, versioned):
        self.managed = shim.torus_export(rows, columns, dtype, versioned)
        assert self.managed, shim.torus_error()
        self.versioned = versioned

    def __dlpack__(self, **_):
        return NEW(self.managed, NAMES[self.versioned], None)

    def __dlpack_device__(self):
        return 1, 0


def check_out(shim, versioned):
    for index, name in enumerate(DTYPES):
        if name != "bfloat16":
            # Python's NumPy has no bf16.
            wanted = np.arange(12).astype(name).reshape(3, 4).T[1:]
            got = np.from_dlpack(Exported(shim, 3, 4, index, versioned))
            assert got.dtype == wanted.dtype and got.strides == wanted.strides, (name, got)
            assert np.array_equal(got, wanted), (name, got)
        wanted = torch.arange(12).to(getattr(torch, name)).reshape(3, 4).T[1:]
        got = torch.from_dlpack(Exported(shim, 3, 4, index, versioned))
        assert got.dtype == wanted.dtype and got.stride() == wanted.stride() and torch.equal(got, wanted), (name, got)


def elements(shim, tensor, count):
    out = np.zeros(count)
    shim.torus_elements(tensor, out.ctypes.data)
    return out


def check_in(shim, source, versioned, address, values, write):
    capsule = source.__dlpack__(max_version=(1, 0)) if versioned else source.__dlpack__()
    tensor = shim.torus_import(POINTER(capsule, NAMES[versioned]), versioned)
    assert tensor, shim.torus_error()
    RENAME(capsule, USED[versioned])
    assert shim.torus_address(tensor) == address
    assert np.array_equal(elements(shim, tensor, values.size), values.ravel())
    write()
    assert elements(shim, tensor, values.size)[0] == 42
    shim.torus_fill(tensor, 7)
    before = sys.getrefcount(source)
    shim.torus_release(tensor)
    del capsule
    return before - sys.getrefcount(source)


def check_all_in(shim, versioned):
    for name in DTYPES:
        if name in ("bool", "bfloat16"):
            continue
        array = np.arange(24).astype(name).reshape(2, 3, 4).transpose(2, 0, 1)[1:]
        values = array.astype(np.float64)

        def write(to=array):
            to[0, 0, 0] = 42
        released = check_in(shim, array, versioned, array.ctypes.data, values, write)
        assert released == 1, released  # the array was held until then, and is no more
        assert np.all(array == 7), array
        tensor = torch.arange(24).to(getattr(torch, name)).reshape(2, 3, 4).permute(2, 0, 1)[1:]
        values = tensor.double().numpy().copy()

        def write(to=tensor):
            to[0, 0, 0] = 42
        check_in(shim, tensor, versioned, tensor.data_ptr(), values, write)
        assert torch.all(tensor == 7), tensor


def main():
    assert np.__version__ == "2.4.6" and torch.__version__.split("+")[0] == "2.15.0", (np.__version__, torch.__version__)
    with tempfile.TemporaryDirectory() as folder:
        shim = build(folder)
        for versioned in (0, 1):
            check_out(shim, versioned)
            check_all_in(shim, versioned)
    print("DLPack: NumPy and PyTorch, in and out, in both forms: equal, shared, released")


main()
