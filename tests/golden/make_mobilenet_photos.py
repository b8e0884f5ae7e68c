"""Makes mobilenet_photos.safetensors: the logits of torchvision's mobilenet_v2 on ten photographs of TORUS_DATA.

Needs torch==2.15.0, torchvision==0.29.2, pillow==13.0.0, numpy, safetensors, and gcc with Debian's libstb-dev.

A photograph is decoded to RGB, resized straight to 224 x 224 (the aspect ratio is not kept) by Pillow's antialiased
BILINEAR, the width first and then the height, and scaled to x / 127.5 - 1. The network runs in float64 from the float32
weights, so that only the other side's rounding is left to allow for. For each file STEM.jpg or STEM.bmp:

  STEM        f32 (1000)  decoded by Pillow (libjpeg-turbo)
  stb.STEM    f32 (1000)  decoded by stb_image 2.27
  metadata    crc.STEM    CRC-32 of the 224 x 224 x 3 bytes that stb.STEM comes from

BMP files give the same bits either way. JPEG decoders differ by up to 3 levels in 1 to 5 % of the pixels, and by one level
after resizing; that alone moves logits (standard deviation 1.3 to 2.2) by up to 0.045. The script prints each figure.
"""
import glob
import os
import subprocess
import tempfile
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

STB_DECODER = r"""
#include <stdio.h>
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
int main(int argc, char** argv) {
  int width, height, channels;
  unsigned char* pixels = stbi_load(argv[argc - 1], &width, &height, &channels, 3);
  if (!pixels) return 1;
  fwrite(&width, sizeof width, 1, stdout);
  fwrite(&height, sizeof height, 1, stdout);
  fwrite(pixels, 3, (size_t)width * height, stdout);
}
"""


def build_stb(folder):
    program = os.path.join(folder, "decode")
    subprocess.run(["gcc", "-O2", "-x", "c", "-", "-o", program, "-lm"], input=STB_DECODER.encode(), check=True)
    return program


def decode_stb(program, path):
    out = subprocess.run([program, path], stdout=subprocess.PIPE, check=True).stdout
    width, height = np.frombuffer(out[:8], np.int32)
    return Image.fromarray(np.frombuffer(out[8:], np.uint8).reshape(height, width, 3))


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
    with tempfile.TemporaryDirectory() as folder:
        stb = build_stb(folder)
        for path in sorted(glob.glob(os.path.join(data, "weights/mobilenet_v2/test_images/*"))):
            stem = os.path.splitext(os.path.basename(path))[0]
            ours, theirs = decode_stb(stb, path), Image.open(path).convert("RGB")
            levels = np.abs(np.asarray(ours).astype(int) - np.asarray(theirs))
            pixels = resize(ours)
            reference, same_decoder = logits(model, resize(theirs)), logits(model, pixels)
            tensors[stem] = reference.astype(np.float32)
            tensors["stb." + stem] = same_decoder.astype(np.float32)
            metadata["crc." + stem] = f"{zlib.crc32(pixels.tobytes()):08x}"
            print(f"{stem}: decoders differ by {levels.max()} levels in {100 * (levels > 0).mean():.2f} %, logits (std "
                  f"{reference.std():.2f}) by {np.abs(reference - same_decoder).max():.4f}; class {reference.argmax()}")
    assert len(metadata) == 10, sorted(metadata)
    here = os.path.dirname(os.path.abspath(__file__))
    save_file(tensors, os.path.join(here, "mobilenet_photos.safetensors"), metadata=metadata)


main()
