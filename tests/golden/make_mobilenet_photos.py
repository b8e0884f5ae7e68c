"""Makes mobilenet_photos.safetensors: the logits of torchvision's mobilenet_v2 on ten photographs of TORUS_DATA.

Needs torch==2.15.0, torchvision==0.29.2, pillow==13.0.0, numpy, safetensors.

A photograph is decoded to RGB by Pillow (libjpeg-turbo), resized straight to 224 x 224 (the aspect ratio is not kept) by
Pillow's antialiased BILINEAR, the width first and then the height, and scaled to x / 127.5 - 1. The network runs in
float64 from the float32 weights, so that only the other side's rounding is left to allow for. For each file STEM.jpg or
STEM.bmp:

  STEM        f32 (1000)
  metadata    crc.STEM    CRC-32 of the 224 x 224 x 3 bytes
"""
import glob
import os
import zlib

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from safetensors.numpy import save_file
from safetensors.torch import load_file

assert torch.__version__.split("+")[0] == "2.15.0", torch.__version__
assert torchvision.__version__.split("+")[0] == "0.29.2", torchvision.__version__
assert PIL.__version__ == "13.0.0", PIL.__version__

def resize(image):
    rows = image.resize((224, image.height), Image.Resampling.BILINEAR)
    return np.asarray(rows.resize((224, 224), Image.Resampling.BILINEAR))


def load_model(data):
    model = torchvision.models.mobilenet_v2(num_classes=1000)
    path = os.path.join(data, "weights/mobilenet_v2/mobilenet_v2_imagenet_dequant_qat.safetensors")
    model.load_state_dict(load_file(path), strict=True)
    return model.double().eval()


def logits(model, pixels):
    x = torch.from_numpy(pixels.astype(np.float64) / 127.5 - 1).permute(2, 0, 1)[None]
    with torch.no_grad():
        return model(x).numpy()[0]


def main():
    data = os.environ["TORUS_DATA"]
    model, tensors, metadata = load_model(data), {}, {}
    for path in sorted(glob.glob(os.path.join(data, "weights/mobilenet_v2/test_images/*"))):
        stem = os.path.splitext(os.path.basename(path))[0]
        pixels = resize(Image.open(path).convert("RGB"))
        tensors[stem] = logits(model, pixels).astype(np.float32)
        metadata["crc." + stem] = f"{zlib.crc32(pixels.tobytes()):08x}"
        print(f"{stem}: class {tensors[stem].argmax()}")
    assert len(metadata) == 10, sorted(metadata)
    here = os.path.dirname(os.path.abspath(__file__))
    save_file(tensors, os.path.join(here, "mobilenet_photos.safetensors"), metadata=metadata)


main()
