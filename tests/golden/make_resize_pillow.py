"""Makes resize_pillow.safetensors: what Pillow's BILINEAR resize does to small images.

Needs pillow==13.0.0, numpy, safetensors. Each case has in.N (H, W, C), out.N (h, w, C), u8 or f32, and rows_first.N: the
same by two calls, the first for the width and the second for the height. One call chooses the order by itself, and
rounding to u8 in between then differs by a level.
"""
import os

import numpy as np
import PIL
from PIL import Image
from safetensors.numpy import save_file

assert PIL.__version__ == "13.0.0", PIL.__version__

# (H, W) -> (h, w): both ways in both dimensions, one dimension alone, to and from a single pixel, a large ratio.
SIZES = [((13, 17), (7, 5)), ((5, 4), (11, 9)), ((20, 33), (20, 10)), ((31, 20), (12, 20)), ((9, 50), (40, 3)),
         ((37, 23), (1, 1)), ((1, 1), (3, 4)), ((97, 131), (24, 24)), ((28, 28), (32, 32)), ((3, 200), (2, 7))]


def cases():
    random = np.random.RandomState(1)
    for size, out in SIZES:
        yield random.randint(0, 256, size + (3,)).astype(np.uint8), out
    yield random.randint(0, 256, (19, 30)).astype(np.uint8), (8, 41)  # grey
    yield np.full((29, 31, 3), 255, np.uint8), (10, 7)  # rounding must not overflow
    yield (255 * random.randint(0, 2, (40, 40, 3))).astype(np.uint8), (17, 15)  # extremes alone
    yield random.randn(21, 34).astype(np.float32), (10, 50)


def channels_last(image):
    array = np.asarray(image)
    return np.ascontiguousarray(array.reshape(array.shape[:2] + (-1,)))


tensors = {}
for number, (array, (height, width)) in enumerate(cases()):
    image = Image.fromarray(array)
    out = image.resize((width, height), Image.Resampling.BILINEAR)
    rows = image.resize((width, array.shape[0]), Image.Resampling.BILINEAR)
    tensors[f"in.{number}"] = channels_last(array)
    tensors[f"out.{number}"] = channels_last(out)
    tensors[f"rows_first.{number}"] = channels_last(rows.resize((width, height), Image.Resampling.BILINEAR))
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "resize_pillow.safetensors")
save_file(tensors, path, metadata={"pillow": PIL.__version__, "cases": str(len(tensors) // 3)})
