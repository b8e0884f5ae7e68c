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

# How far the two may be apart, which add in other orders: of the largest logit, or of 1 where all are smaller. In f32 a
# sum of k terms is off by up to (8 + 4 sqrt(k)) 2^-24 of its size (tests/testing/tolerance.h). Errors of layers have
# random signs, so their squares add: to (6e-5)^2 in VGG13, whose longest sum has 25088 terms, and in ResNet-50. Two
# such results differ by sqrt(2) times that, 8e-5.
TOLERANCE = 1e-4


def arrays(folder):
    values = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    return values, values.pop("logits")


def check_rows(session, call, rows):
    """The first `rows` of a call's batch."""
    inputs, wanted = arrays(call)
    scale, wanted = max(1, np.abs(wanted).max()), wanted[:rows]
    (got,) = session.run(["logits"], {name: value[:rows] for name, value in inputs.items()})
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, (call, got.shape, wanted.shape)
    off = np.abs(got - wanted).max() / scale
    print(f"{call.parent.name:16} logits {str(got.shape):16} differ by {off:.1e}")
    assert off <= TOLERANCE, f"{call}: logits {got.shape} differ by {off:.1e}, allowed are {TOLERANCE:.0e}"


def check(folder):
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].shape[0] == "batch", session.get_inputs()[0].shape
    for call in sorted(path for path in folder.iterdir() if path.is_dir()):
        check_rows(session, call, None)
        check_rows(session, call, 1)  # nothing else may stand in for the row


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
