"""Makes image_files.safetensors: image files as other programs write them, and what Pillow reads from them.

Needs pillow==13.0.0, numpy==2.4.6, safetensors==0.8.0 and tifffile==2026.3.3. NAME is the bytes of a file, NAME.rgb its pixels (H, W, 3) by
convert("RGB"). Of 16 bits, which that clips at 255 or refuses, they are the nearest of 256 levels.
"""
import io
import os
import struct

import numpy as np
import PIL
import tifffile
from PIL import Image
from safetensors.numpy import save_file

assert PIL.__version__ == "13.0.0", PIL.__version__
HEIGHT, WIDTH = 10, 13
random = np.random.default_rng(35)
# Smooth, so that lossy formats keep it; no two rows or columns are alike.
y, x = np.mgrid[:HEIGHT, :WIDTH]
smooth = np.stack([20 * y + 3 * x, 250 - 17 * x, 30 + 9 * y + 9 * x], axis=2).clip(0, 255).astype(np.uint8)
noise = random.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
alpha = random.integers(0, 256, (HEIGHT, WIDTH, 1), dtype=np.uint8)
alpha[0, :4] = [[0], [255], [1], [128]]
rgb, grey = Image.fromarray(noise), Image.fromarray(noise[:, :, 0])
rgba = Image.fromarray(np.concatenate([noise, alpha], axis=2), "RGBA")
out = {}


def expected(data):
    image = Image.open(io.BytesIO(data))
    image.load()
    if image.mode.startswith("I"):
        levels = np.rint(np.asarray(image).astype(np.float64) / 257).astype(np.uint8)
        return np.repeat(levels[:, :, None], 3, axis=2)
    return np.asarray(image.convert("RGB"))


def add(name, data, pixels=None):
    out[name] = np.frombuffer(bytes(data), dtype=np.uint8)
    out[name + ".rgb"] = np.ascontiguousarray(expected(data) if pixels is None else pixels)


def saved(image, kind, **options):
    to = io.BytesIO()
    image.save(to, kind, **options)
    return to.getvalue()


frames = [Image.fromarray(np.roll(noise, 2 * i, axis=0)) for i in range(3)]
add("webp.lossless", saved(rgb, "WEBP", lossless=True))
add("webp.lossless_alpha", saved(rgba, "WEBP", lossless=True, exact=True))
add("webp.lossy", saved(Image.fromarray(smooth), "WEBP", quality=80))
add("webp.lossy_alpha", saved(rgba, "WEBP", quality=80))
add("webp.animated", saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True))

for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
    add("tiff." + compression, saved(rgb, "TIFF", compression=compression))
add("tiff.jpeg", saved(Image.fromarray(smooth), "TIFF", compression="jpeg", quality=95))
add("tiff.group4", saved(grey.convert("1"), "TIFF", compression="group4"))
add("tiff.bits", saved(grey.convert("1"), "TIFF"))
add("tiff.grey", saved(grey, "TIFF"))
add("tiff.palette", saved(rgb.quantize(16), "TIFF"))
add("tiff.cmyk", saved(Image.fromarray(np.concatenate([noise, alpha], axis=2), "CMYK"), "TIFF"))
add("tiff.alpha", saved(rgba, "TIFF"))
add("tiff.grey16", saved(Image.fromarray(noise[:, :, 0].astype(np.uint16) * 256 + noise[:, :, 1]), "TIFF"))
add("tiff.big", saved(rgb, "TIFF", big_tiff=True))
add("tiff.pages", saved(frames[0], "TIFF", save_all=True, append_images=frames[1:]))
for orientation in range(1, 9):
    add(f"tiff.orientation{orientation}", saved(rgb, "TIFF", tiffinfo={274: orientation}))
def tiff(pixels, **options):
    to = io.BytesIO()
    tifffile.imwrite(to, pixels, photometric="rgb", metadata=None, **options)
    return to.getvalue()


wide = noise.astype(np.uint16) * 256 + np.roll(noise, 1, axis=2)
levels = np.rint(wide / 257).astype(np.uint8)
big = np.pad(noise, ((0, 14), (0, 11), (0, 0)), mode="wrap")
add("tiff.tiles", tiff(big, tile=(16, 16)), big)
add("tiff.rgb16", tiff(wide), levels)
add("tiff.rgb16_big_endian", tiff(wide, byteorder=">"), levels)
add("tiff.planes", tiff(np.ascontiguousarray(noise.transpose(2, 0, 1)), planarconfig="separate"), noise)
# Colours multiplied by alpha: extra samples of the kind 1 (associated) instead of 2, as Pillow writes it.
data = bytearray(saved(rgba, "TIFF"))
at = data.index(struct.pack("<HHI", 338, 3, 1)) + 8
assert data[at] == 2
data[at] = 1
add("tiff.associated_alpha", data)

# Pillow's own CMYK has Adobe's segment: FF EE, length 14, Adobe, version, flags, transform.
cmyk = np.concatenate([smooth, (255 - smooth[:, :, :1])], axis=2)
data = saved(Image.fromarray(cmyk, "CMYK"), "JPEG", quality=95, subsampling=0)
at = data.index(b"\xff\xee\x00\x0eAdobe")
add("jpeg.cmyk_adobe", data)
add("jpeg.cmyk", data[:at] + data[at + 16:])
for transform in (1, 2):
    add(f"jpeg.ycck{transform}", data[:at + 15] + bytes([transform]) + data[at + 16:])
progressive = saved(Image.fromarray(cmyk, "CMYK"), "JPEG", quality=95, subsampling=0, progressive=True)
at = progressive.index(b"\xff\xee\x00\x0eAdobe")
add("jpeg.cmyk_progressive", progressive[:at] + progressive[at + 16:])

data = saved(rgb, "PNG")
for cut in range(1, 13):
    add(f"png.without{cut}", data[:-cut], noise)

add("gif.plain", saved(rgb.quantize(200), "GIF", interlace=0))
add("gif.interlaced", saved(rgb.quantize(31), "GIF", interlace=1))
add("gif.animated", saved(rgb.quantize(64), "GIF", save_all=True, append_images=[f.quantize(64) for f in frames[1:]]))

header = f"{WIDTH} {HEIGHT}"
text = lambda pixels: " ".join(map(str, np.asarray(pixels).ravel()))
add("pnm.p2", f"P2\n# a comment\n{header}\n255\n{text(noise[:, :, 0])}\n".encode())
add("pnm.p3", f"P3 {header} 255\n{text(noise)}".encode())
add("pnm.p3_of_10", f"P3 {header} 10\n{text(noise % 11)}\n".encode())
add("pnm.p3_of_1000", f"P3 {header} 1000\n{text(noise * np.uint16(3))}\n".encode())
add("pnm.p5_of_15", f"P5 {header} 15\n".encode() + (noise[:, :, 0] % 16).tobytes())
add("pnm.p5_of_65535", f"P5 {header} 65535\n".encode() + wide[:, :, 0].astype(">u2").tobytes())
add("pnm.p6_of_65535", f"P6 {header} 65535\n".encode() + wide.astype(">u2").tobytes())
add("pnm.p6_of_1000", f"P6 {header} 1000\n".encode() + (wide % 1001).astype(">u2").tobytes())

save_file(out, os.path.join(os.path.dirname(os.path.abspath(__file__)), "image_files.safetensors"))
print(len(out) // 2, "files")
