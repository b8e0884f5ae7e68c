#!/usr/bin/env python3
"""Writes op_cases: calls of PyTorch's functions with rarer arguments, as cases of tools/replay.

    pip install torch==2.15.0 safetensors numpy
    ./make_op_cases.py FOLDER
"""
import json
import os
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file


def normal(*shape):
    return torch.randn(shape)


def positive(*shape):
    return torch.rand(shape) + 0.5


def ids(rows, *shape):
    return torch.randint(rows, shape)


def dense(tensor):
    return tensor.detach().to_dense().contiguous().clone()


def write(folder, number, op, attrs, tensors, wanted, changed=()):
    """`wanted`: the arguments that get a gradient; `changed`: those that are changed in place."""
    torch.manual_seed(number)
    arguments = {name: make() for name, make in tensors.items()}
    case = {f"in.{name}": dense(value) for name, value in arguments.items()}
    for name in wanted:
        arguments[name].requires_grad_(True)
    named = dict(arguments)
    out = getattr(F, op)(named.pop("input"), **named, **attrs)
    case["out.0"] = dense(out)
    if wanted:
        case["grad_out.0"] = torch.randn_like(out)
        out.backward(case["grad_out.0"])
    case |= {f"grad_in.{name}": dense(arguments[name].grad) for name in wanted}
    case |= {f"after.{name}": dense(arguments[name]) for name in changed}
    attrs = {name: "Infinity" if value == float("inf") else value for name, value in attrs.items()}
    metadata = {"format": "1", "case": json.dumps({"op": op, "attrs": attrs})}
    save_file(case, os.path.join(folder, f"{op}.{number:03}.safetensors"), metadata)


EMBEDDING = {"input": lambda: ids(5, 3, 4), "weight": lambda: normal(9, 6)}
PAIR = {"input": lambda: normal(3, 4), "target": lambda: normal(3, 4)}
WEIGHTED = PAIR | {"weight": lambda: positive(3, 4)}
ATTENTION = {name: lambda: normal(2, 3, 5, 4) for name in ("input", "key", "value")}


def images(*shape):
    channels = shape[1]
    return {
        "input": lambda: normal(*shape),
        "running_mean": lambda: normal(channels),
        "running_var": lambda: positive(channels),
        "weight": lambda: normal(channels),
        "bias": lambda: normal(channels),
    }


def cases():
    for attrs in (
        {"max_norm": 1.5},
        {"max_norm": 1.5, "norm_type": 1.0, "padding_idx": 2},
        {"max_norm": 0.75, "norm_type": float("inf")},
        {"max_norm": 2.0, "norm_type": 3.5, "scale_grad_by_freq": True},
        {"scale_grad_by_freq": True},
        {"scale_grad_by_freq": True, "padding_idx": -8},
        {"sparse": True, "padding_idx": 1},
    ):
        yield "embedding", attrs, EMBEDDING, ["weight"], ["weight"]
    for op in ("mse_loss", "l1_loss", "huber_loss"):
        for reduction in ("none", "mean", "sum"):
            yield op, {"reduction": reduction}, WEIGHTED, ["input", "target", "weight"]
    yield "l1_loss", {}, PAIR, ["input", "target"]
    yield "huber_loss", {"delta": 0.5}, PAIR, ["input", "target"]
    for beta in (0.0, 0.25, 1.5):
        yield "smooth_l1_loss", {"beta": beta}, PAIR, ["input", "target"]
    yield "smooth_l1_loss", {"reduction": "none"}, PAIR | {"target": lambda: normal(4)}, ["input"]
    statistics = ["running_mean", "running_var"]
    for shape in ((0, 3), (0, 3, 4, 4), (2, 3, 0, 4)):
        for training in (True, False):
            attrs = {"training": training, "eps": 0.01}
            yield "batch_norm", attrs, images(*shape), ["input", "weight", "bias"], statistics
    yield "scaled_dot_product_attention", {"dropout_p": 0.0}, ATTENTION, list(ATTENTION)
    for op in ("relu", "hardtanh", "leaky_relu"):
        yield op, {"inplace": True}, {"input": lambda: normal(3, 4)}, [], ["input"]


def rows(*shape):
    return {"input": lambda: normal(2, *shape), "weight": lambda: normal(*shape)}


def norm_cases():
    both = ["input", "weight"]
    yield "rms_norm", {"normalized_shape": [7]}, rows(7), both
    yield "rms_norm", {"normalized_shape": [3, 5], "eps": 0.25}, rows(3, 5), both
    yield "rms_norm", {"normalized_shape": [6], "eps": None}, {"input": lambda: normal(2, 3, 6)}, ["input"]
    yield "rms_norm", {"normalized_shape": [4], "eps": 0.0}, {"input": lambda: normal(0, 4)}, ["input"]


# A family's numbers, which seed its values, start at its own hundred.
FAMILIES = {0: cases, 300: norm_cases}


def main():
    for first, family in FAMILIES.items():
        for number, case in enumerate(family(), first):
            write(sys.argv[1], number, *case)


main()
