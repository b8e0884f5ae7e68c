"""Makes npy.safetensors: files of NumPy, and the values in them.

Needs numpy==2.4.6, safetensors. `file/NAME` has the bytes of a file and `value/NAME` what reading NAME.npy must give, in
the type that holds it; files of `canon/NAME` are also what writing their values must give. stored.npz and deflated.npz have
the arrays a, b and c/d.
"""
import io
import os

import numpy as np
from numpy.lib import format
from safetensors.numpy import save_file

assert np.__version__ == "2.4.6", np.__version__

HELD = {"i1": "i4", "i2": "i4", "u2": "i4", "u4": "i8", "u8": "i8"}
out = {}


def add(name, array, version=(1, 0), canon=False):
    file = io.BytesIO()
    format.write_array(file, array, version=version)
    out["file/" + name] = np.frombuffer(file.getvalue(), dtype=np.uint8)
    kind = array.dtype.str[1:]
    out["value/" + name] = np.ascontiguousarray(array.astype(HELD.get(kind, kind))).reshape(array.shape)
    if canon:
        out["canon/" + name] = out["file/" + name]


values = np.arange(-6, 6).reshape(3, 4)
for kind in ("f8", "f4", "f2", "i8", "i4", "u1", "b1"):
    add(kind, values.astype("<" + kind), canon=True)
for kind in ("i1", "i2", "u2", "u4", "u8"):
    add(kind, values.astype("<" + kind) if kind[0] == "i" else (values + 6).astype("<" + kind))
for kind in ("f8", "f4", "f2", "i8", "i4", "i2", "u2", "u8"):
    add("big " + kind, (values + 6).astype(">" + kind))
add("scalar", np.float32(2.5).reshape(()), canon=True)
add("vector", np.arange(5, dtype="<f4"), canon=True)
add("empty", np.zeros((0,), "<f4"), canon=True)
add("empty, three dimensions", np.zeros((2, 0, 3), "<i8"), canon=True)
add("long shape", np.zeros((1,) * 7 + (70,), "<u1"), canon=True)
add("fortran", np.asfortranarray(np.arange(24, dtype="<f4").reshape(2, 3, 4)))
add("big fortran", np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)))
add("version 2", np.arange(3, dtype="<i8"), version=(2, 0))
add("version 3", np.arange(3, dtype="<i8"), version=(3, 0))

arrays = {"a": np.arange(6, dtype="<f4").reshape(2, 3), "b": np.array([True, False]), "c/d": np.zeros(1000, "<i8")}
for name, save in (("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)):
    file = io.BytesIO()
    save(file, **arrays)
    out["file/" + name] = np.frombuffer(file.getvalue(), dtype=np.uint8)

refused = {"complex": np.zeros(2, "<c8"), "text": np.array(["ab", "c"]), "structure": np.zeros(2, "<i4,<f4"),
           "objects": np.array([{}, None], dtype=object), "long double": np.zeros(2, np.longdouble)}
for name, array in refused.items():
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    out["refused/" + name] = np.frombuffer(file.getvalue(), dtype=np.uint8)

save_file(out, os.path.join(os.path.dirname(os.path.abspath(__file__)), "npy.safetensors"), metadata={"numpy": "2.4.6"})
