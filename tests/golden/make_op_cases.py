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


def call(op, arguments, attrs):
    """Lists are named X.0, X.1, ...; `operands` are positional, behind an equation."""
    named = dict(arguments)
    lists = {}
    for name in [name for name in named if "." in name]:
        lists.setdefault(name.split(".")[0], []).append(named.pop(name))
    operands = lists.pop("operands", [])
    attrs = dict(attrs)
    first = [attrs.pop("equation")] if operands else []
    first += [named.pop("input")] if "input" in named else []
    function = getattr(F, op, None) or getattr(torch, op)
    out = function(*first, *operands, **named, **lists, **attrs)
    return list(out) if isinstance(out, (tuple, list)) else [out]


def write(folder, number, op, attrs, tensors, wanted, changed=()):
    """`wanted`: the arguments that get a gradient; `changed`: those that are changed in place."""
    torch.manual_seed(number)
    arguments = {name: make() for name, make in tensors.items()}
    case = {f"in.{name}": dense(value) for name, value in arguments.items()}
    for name in wanted:
        arguments[name].requires_grad_(True)
    outs = call(op, arguments, attrs)
    case |= {f"out.{i}": dense(out) for i, out in enumerate(outs)}
    if wanted:
        ends = {i: out for i, out in enumerate(outs) if out.requires_grad}
        seeds = {f"grad_out.{i}": torch.randn(out.shape) for i, out in ends.items()}
        torch.autograd.backward(list(ends.values()), list(seeds.values()))
        case |= seeds
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


def of(*shape):
    return {"input": lambda: normal(*shape)}


def whole(*shape):
    return {"input": lambda: ids(9, *shape)}


def moves():
    """What puts elements in other places."""
    for mode, pads in (
        ("constant", ([1, 2], [-1, 2, 0, -1], [0, 0, 1, 1, -2, 3])),
        ("reflect", ([2, 1], [-1, 2, 1, -1])),
        ("replicate", ([3, 1], [-1, 2, 1, -1])),
        ("circular", ([2, 3], [2, 1, -1, 2])),
    ):
        for pad in pads:
            shape = (2, 3, 4, 5)[: 4 if mode == "constant" else 2 + len(pad) // 2]
            yield "pad", {"pad": pad, "mode": mode}, of(*shape), ["input"]
    yield "pad", {"pad": [1, 1], "value": float("inf")}, of(2, 0), ["input"]
    yield "pad", {"pad": [1, 0, 0, 2], "value": 7}, whole(2, 3), []
    for dims in ([0], [-1, 1], []):
        yield "flip", {"dims": dims}, of(2, 3, 4), ["input"]
    yield "flip", {"dims": [0]}, whole(5), []
    for attrs in ({"shifts": 5}, {"shifts": [1, -5], "dims": [-1, 0]}, {"shifts": 2, "dims": 1}):
        yield "roll", attrs, of(3, 4), ["input"]
    yield "roll", {"shifts": 1, "dims": 0}, of(0, 4), ["input"]
    for dims in ([2], [2, 1, 3], [0, 2], [1, 1, 1, 2]):
        yield "tile", {"dims": dims}, of(2, 3), ["input"]
    for attrs in ({"repeats": 3}, {"repeats": 2, "dim": -2}, {"repeats": 0, "dim": 0}):
        yield "repeat_interleave", attrs, of(2, 3), ["input"]
    for attrs in ({"chunks": 4}, {"chunks": 2, "dim": -1}):
        yield "chunk", attrs, of(5, 3), ["input"]
    yield "chunk", {"chunks": 3}, of(0, 3), ["input"]
    yield "unbind", {"dim": -1}, of(3, 2), ["input"]
    yield "movedim", {"source": [0, -1], "destination": [1, 0]}, of(2, 3, 4), ["input"]
    yield "movedim", {"source": 0, "destination": -1}, of(2, 3, 4), ["input"]
    yield "swapaxes", {"axis0": 0, "axis1": -1}, of(2, 3, 4), ["input"]
    for attrs in ({}, {"offset": 1, "dim1": 2, "dim2": 0}, {"offset": -7}):
        yield "diagonal", attrs, of(3, 2, 4), ["input"]
    for attrs in ({}, {"offset": -2, "dim1": 0, "dim2": 2}):
        yield "diag_embed", attrs, of(3, 2), ["input"]
    yield "diag", {"diagonal": 1}, of(3), ["input"]
    yield "diag", {"diagonal": -1}, of(3, 3), ["input"]
    yield "broadcast_to", {"size": [2, 3, 4]}, of(3, 1), ["input"]


def of_index(rows, shape, **others):
    """An input, an index below `rows`, and other tensors by name and shape."""
    made = {name: (lambda size=size: normal(*size)) for name, size in others.items()}
    return made | {"index": lambda: ids(rows, *shape)}


def distinct(rows, columns):
    """The order of a sort names no place of a row twice."""
    return {"index": lambda: torch.argsort(torch.rand(rows, columns), 1)}


def special(*values):
    return {"input": lambda: torch.tensor(values)}


def choices():
    """What writes by index, and what chooses by value."""
    inf, nan = float("inf"), float("nan")
    both = ["input", "src"]
    yield "scatter", {"dim": 1}, distinct(2, 3) | of(3, 4) | {"src": lambda: normal(2, 3)}, both
    yield "scatter", {"dim": -1, "value": 2.5}, of_index(4, (3, 2), input=(3, 4)), ["input"]
    yield "scatter", {"dim": 0, "value": 3}, whole(4) | {"index": lambda: ids(4, 2)}, []
    yield "scatter", {"dim": 0}, of_index(3, (0,), input=(3,), src=(0,)), both
    for dim, shape in ((0, (7, 3)), (-1, (2, 9))):
        yield "scatter_add", {"dim": dim}, of_index(3, shape, input=(3, 3), src=shape), both
    yield "scatter_add", {"dim": 0}, of_index(5, (70,), input=(5,), src=(70,)), both
    yield "scatter_add", {"dim": 0}, whole(4) | {"index": lambda: ids(4, 6), "src": lambda: ids(9, 6)}, []
    source = {"input": (3, 4), "source": (6, 4)}
    for attrs in ({"dim": 0}, {"dim": 0, "alpha": -1.5}):
        yield "index_add", attrs, of_index(3, (6,), **source), ["input", "source"]
    yield "index_add", {"dim": -1}, of_index(4, (0,), input=(3, 4), source=(3, 0)), ["input", "source"]
    for attrs in ({}, {"num_classes": 12}):
        yield "one_hot", attrs, whole(2, 3), []
    indices = {"indices": lambda: ids(3, 1, 4)}
    yield "take_along_dim", {"dim": 0}, of(3, 4) | indices, ["input"]
    yield "take_along_dim", {}, of(3, 4) | indices, ["input"]
    yield "masked_select", {}, of(3, 4) | {"mask": lambda: torch.rand(2, 1, 4) < 0.5}, ["input"]
    yield "masked_select", {}, whole(3) | {"mask": lambda: torch.zeros(3, dtype=torch.bool)}, []
    yield "nonzero", {}, {"input": lambda: ids(2, 3, 4)}, []
    yield "nonzero", {"as_tuple": True}, special(0.0, nan, -0.0, -inf), []
    yield "gather", {"dim": 0}, whole(3) | {"index": lambda: ids(3, 5)}, []
    yield "index_select", {"dim": 0}, whole(3, 2) | {"index": lambda: ids(3, 5)}, []
    for attrs in ({}, {"dim": 0, "descending": True}, {"dim": -2}):
        yield "sort", attrs, of(5, 4), ["input"]
    for descending in (False, True):
        odd = special(2.0, nan, -inf, 0.0, -0.0, inf, 2.0)
        yield "sort", {"stable": True, "descending": descending}, odd, ["input"]
        yield "argsort", {"stable": True, "descending": descending}, whole(4, 6), []
    yield "sort", {"dim": 0}, of(), ["input"]
    yield "sort", {"dim": 1}, of(2, 0), ["input"]
    for attrs in ({"k": 3}, {"k": 2, "dim": 0, "largest": False}, {"k": 0}):
        yield "topk", attrs, of(4, 5), ["input"]
    yield "topk", {"k": 3}, special(1.0, nan, inf, -inf, 3.0), ["input"]
    repeats = {"repeats": lambda: ids(3, 4)}
    yield "repeat_interleave", {"dim": -1}, of(3, 4) | repeats, ["input"]
    yield "repeat_interleave", {}, of(2, 2) | repeats, ["input"]
    yield "repeat_interleave", {"dim": 0}, of(2, 3) | {"repeats": lambda: ids(1, 1) + 2}, ["input"]


def images_resized():
    """What resizes images, cuts windows out of them, and moves channels to pixels."""
    for mode, shape in (("linear", (2, 3, 7)), ("bilinear", (2, 3, 5, 7)), ("trilinear", (1, 2, 3, 4, 5))):
        for attrs in (
            {"size": 4},
            {"scale_factor": 1.7},
            {"scale_factor": 0.6, "align_corners": True},
            {"scale_factor": 1.7, "recompute_scale_factor": True},
        ):
            yield "interpolate", attrs | {"mode": mode}, of(*shape), ["input"]
    for mode in ("nearest", "nearest-exact", "area", "bicubic"):
        for attrs in ({"size": [3, 11]}, {"scale_factor": [2, 0.7]}, {"size": [5, 7]}):
            yield "interpolate", attrs | {"mode": mode}, of(2, 3, 5, 7), ["input"]
    yield "interpolate", {"mode": "bicubic", "size": [9, 3], "align_corners": True}, of(1, 2, 5, 7), ["input"]
    yield "interpolate", {"scale_factor": 2}, of(1, 2, 3, 4, 2), ["input"]
    for mode in ("bilinear", "bicubic"):
        for size in ([3, 10], [2, 2]):
            attrs = {"mode": mode, "size": size, "antialias": True}
            yield "interpolate", attrs, of(1, 2, 8, 7), ["input"]
    everything = {"kernel_size": [3, 2], "dilation": [1, 2], "padding": [2, 1], "stride": [2, 1]}
    for attrs in ({"kernel_size": 2}, everything, {"kernel_size": 1, "stride": 3}):
        yield "unfold", attrs, of(2, 3, 5, 6), ["input"]
    yield "unfold", {"kernel_size": 2, "padding": 1}, of(3, 4, 4), ["input"]
    yield "fold", {"output_size": [5, 6], **everything}, of(2, 18, 24), ["input"]
    yield "fold", {"output_size": 4, "kernel_size": 2, "stride": 2}, of(8, 4), ["input"]
    for shape in ((2, 12, 3, 2), (4, 2, 3), (2, 1, 8, 1, 2)):
        yield "pixel_shuffle", {"upscale_factor": 2}, of(*shape), ["input"]
    yield "pixel_shuffle", {"upscale_factor": 2}, of(0, 4, 2, 2), []
    for shape in ((2, 2, 4, 6), (3, 2, 2)):
        yield "pixel_unshuffle", {"downscale_factor": 2}, of(*shape), ["input"]


def equations():
    """Sums of products by names of dimensions."""
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
        ("b...d,...de->b...e", (2, 5, 3), (1, 3, 4)),
        ("...ij,...j", (2, 1, 3, 4), (5, 4)),
        ("ij,jk,kl->l", (2, 3), (3, 4), (4, 2)),
        ("i,j,k->kij", (2,), (3,), (4,)),
        ("bA,aB", (2, 3), (4, 2)),
        ("iij->j", (3, 3, 2)),
        ("ii", (4, 4)),
        (" i j -> j i ", (2, 3)),
        ("i...->...", (3, 2, 4)),
        ("ij,ij->", (1, 3), (4, 3)),
        (",i->i", (), (3,)),
        ("ij,jk->ik", (2, 0), (0, 3)),
    ):
        operands = {f"operands.{i}": lambda shape=shape: normal(*shape) for i, shape in enumerate(shapes)}
        yield "einsum", {"equation": equation}, operands, list(operands)
    pair = {"a": lambda: normal(2, 3, 4), "b": lambda: normal(3, 4, 5)}
    yield "tensordot", {}, pair, ["a", "b"]
    yield "tensordot", {"dims": [[-1, 1], [1, 0]]}, pair, ["a", "b"]
    yield "tensordot", {"dims": 0}, {"a": lambda: normal(2), "b": lambda: normal(2, 3)}, ["a", "b"]
    yield "outer", {}, {"input": lambda: normal(3), "vec2": lambda: normal(4)}, ["input", "vec2"]


# Each family of ops counts its cases from a number of its own, so that none changes with another's.
FAMILIES = ((0, cases), (100, moves), (200, choices), (300, images_resized), (400, equations))


def main():
    for first, family in FAMILIES:
        for number, case in enumerate(family(), first):
            write(sys.argv[1], number, *case)


main()
