"""Checks the files of ONNX that Torus writes: onnxruntime's logits against Torus's, for several sizes of batches, images
and texts.

Needs numpy==2.4.6 and onnxruntime==1.32.0, and what Torus needs to build. Run it from the root of the tree:
python3 tests/interop/onnx_check.py
"""
import pathlib
import subprocess
import tempfile

import numpy as np
import onnxruntime

TOLERANCE = 1e-4  # of the largest logit, or of 1 where all are smaller


def arrays(folder):
    values = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    return values, values.pop("logits")


def difference(session, folder):
    """The largest, in units of the tolerance's scale, and the logits' shape."""
    inputs, wanted = arrays(folder)
    (got,) = session.run(["logits"], inputs)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, (folder, got.shape, wanted.shape)
    return np.abs(got - wanted).max() / max(1, np.abs(wanted).max()), got.shape


def check(folder):
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].shape[0] == "batch", session.get_inputs()[0].shape
    for call in sorted(path for path in folder.iterdir() if path.is_dir()):
        # A batch of one as well, in which nothing else may stand in for the row.
        off, shape = difference(session, call)
        print(f"{folder.name:16} logits {str(shape):16} differ by {off:.1e}")
        assert off <= TOLERANCE, folder
        one, wanted = arrays(call)
        (got,) = session.run(["logits"], {name: value[:1] for name, value in one.items()})
        assert np.abs(got - wanted[:1]).max() <= TOLERANCE * max(1, np.abs(wanted).max()), folder


def main():
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["./bazelw", "run", "//tests/tools/convert/onnx:write_cases", "--", name], check=True)
        folders = sorted(pathlib.Path(name).iterdir())
        assert folders
        for folder in folders:
            check(folder)
    print(f"onnxruntime {onnxruntime.__version__} agrees on {len(folders)} models")


if __name__ == "__main__":
    main()
