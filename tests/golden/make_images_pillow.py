"""Makes images_pillow.tsv: what Pillow reads from the PNG and PNM test images of TORUS_DATA.

Needs pillow==13.0.0 and numpy. One line a file: path, height, width, and the CRC-32 of its pixels as RGB: grey repeated,
alpha dropped, of 16 bits the upper 8, but of PNM the nearest of 256 levels. A file that Pillow refuses has "refused" instead.
"""
import os
import zlib

import numpy as np
import PIL
from PIL import Image

assert PIL.__version__ == "13.0.0", PIL.__version__
root = os.path.join(os.environ["TORUS_DATA"], "images")


def rgb(path):
    image = Image.open(path)
    image.load()
    if image.mode.startswith("I"):
        wide = np.asarray(image).astype(np.uint16)  # 16-bit grey, which convert() would clip to 8 bits
        nearest = np.rint(wide / 257) if path.endswith(".pgm") else wide >> 8
        return np.repeat(nearest.astype(np.uint8)[:, :, None], 3, axis=2)
    return np.asarray(image.convert("RGB"))


def line(name):
    try:
        pixels = np.ascontiguousarray(rgb(os.path.join(root, name)))
        return f"{name}\t{pixels.shape[0]}\t{pixels.shape[1]}\t{zlib.crc32(pixels.tobytes()):08x}"
    except (OSError, SyntaxError, ValueError):
        return f"{name}\trefused"


names = []
for folder, _, files in os.walk(root):
    names += [os.path.relpath(os.path.join(folder, f), root) for f in files]
names = sorted(name for name in names if name.endswith((".png", ".ppm", ".pgm")))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "images_pillow.tsv"), "w") as out:
    out.write("\n".join(map(line, names)) + "\n")
