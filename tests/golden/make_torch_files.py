#!/usr/bin/env python3
"""Writes zip.pth, legacy.pth and torch_files.safetensors: the same tensors as torch.save has them in either form.

    pip install torch==2.15.0 safetensors numpy
    ./make_torch_files.py FOLDER
"""
import os
import sys
from collections import OrderedDict

import torch
from safetensors.torch import save_file


def tensors():
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6) / 7
    return OrderedDict(
        [
            ("f32", base),
            ("strided", base.t()),
            ("part", base[1:3, 2:5]),
            ("parameter", torch.nn.Parameter(torch.tensor([1.5, -2.5]))),
            ("f64", torch.tensor([1 / 3, float("inf"), float("nan")], dtype=torch.float64)),
            ("f16", torch.tensor([0.1, 65504.0], dtype=torch.float16)),
            ("bf16", torch.tensor([0.1, 3e38], dtype=torch.bfloat16)),
            ("i64", torch.tensor(-(2**62))),
            ("i32", torch.tensor([[1], [-2]], dtype=torch.int32)),
            ("u8", torch.tensor([0, 255], dtype=torch.uint8)),
            ("bool", torch.tensor([True, False, True])),
            ("empty", torch.zeros(0, 3)),
        ]
    )


def main():
    folder = sys.argv[1]
    state = tensors()
    whole = {"epoch": 3, "best": 91.73, "name": "small", "state_dict": state}
    torch.save(whole, os.path.join(folder, "zip.pth"))
    torch.save(whole, os.path.join(folder, "legacy.pth"), _use_new_zipfile_serialization=False)
    flat = {k: v.detach().clone().contiguous() for k, v in state.items()}
    save_file(flat, os.path.join(folder, "torch_files.safetensors"))


main()
