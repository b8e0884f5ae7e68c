#!/usr/bin/env python3
"""Writes op_cases: calls of PyTorch's functions with rarer arguments, as cases of tools/replay; and
op_cases.txt beside that folder, their names.

    pip install torch==2.15.0 safetensors numpy
    ./make_op_cases.py FOLDER
"""
import functools
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


def function(op):
    """The function of that name in torch.nn.functional, or else in torch."""
    return getattr(F, op, None) or functools.reduce(getattr, op.split("."), torch)


def number(value):
    """Of an attribute, as JSON: which has no infinities."""
    infinite = isinstance(value, float) and value in (float("inf"), float("-inf"))
    return ("Infinity" if value > 0 else "-Infinity") if infinite else value


def call(op, arguments, attrs):
    """Lists are named X.0, X.1, ...; `operands` are positional, behind an equation."""
    named = dict(arguments)
    lists = {}
    for name in [name for name in named if "." in name]:
        lists.setdefault(name.split(".")[0], []).append(named.pop(name))
    operands = lists.pop("operands", [])
    attrs = dict(attrs)
    first = [attrs.pop("equation")] if operands else []
    leading = "condition" if "condition" in named else "input"
    first += [named.pop(leading if leading in named else next(iter(named)))] if named else []
    out = function(op)(*first, *operands, **named, **lists, **attrs)
    return list(out) if isinstance(out, (tuple, list)) else [out]


def write(folder, number_of_case, op, attrs, tensors, wanted, changed=()):
    """`wanted`: the arguments that get a gradient; `changed`: those that are changed in place."""
    torch.manual_seed(number_of_case)
    arguments = {name: make() for name, make in tensors.items()}
    case = {f"in.{name}": dense(value) for name, value in arguments.items()}
    for name in wanted:
        arguments[name].requires_grad_(True)
    outs = call(op, arguments, attrs)
    case |= {f"out.{i}": dense(value) for i, value in enumerate(outs)}
    roots = [(i, value) for i, value in enumerate(outs) if value.requires_grad]
    case |= {f"grad_out.{i}": dense(torch.randn_like(value)) for i, value in roots}
    if roots:
        torch.autograd.backward([v for _, v in roots], [case[f"grad_out.{i}"] for i, _ in roots])
    case |= {f"grad_in.{name}": dense(arguments[name].grad) for name in wanted}
    case |= {f"after.{name}": dense(arguments[name]) for name in changed}
    attrs = {name: number(value) for name, value in attrs.items()}
    metadata = {"format": "1", "case": json.dumps({"op": op, "attrs": attrs})}
    name = f"{op}.{number_of_case:03}"
    save_file(case, os.path.join(folder, f"{name}.safetensors"), metadata)
    return name


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


NAN, INF = float("nan"), float("inf")
BIG = 2**62 + 1


def of(*values, dtype=None):
    return lambda: torch.tensor(values, dtype=dtype)


# Where functions have kinks, steps, poles and ends.
ENDS = (1e-8, 88.0, -88.0, NAN, INF, -INF)
SPECIAL = {"input": of(0.0, -0.0, 0.5, -0.5, 1.5, -2.5, 3.0, -3.0, *ENDS)}
PLAIN = {"input": lambda: normal(2, 0, 3)}
VIEWED = {"input": lambda: normal(3, 4).T}
WHOLE = {"input": of(5, -7, 0, 3, BIG, -BIG)}
BITS = {"input": of(True, False)}
WHOLES = WHOLE | {"other": of(2, 2, -3, -5, 3, 7)}
NARROW = {"input": of(2**31 - 1, -7, dtype=torch.int32), "other": of(2, 5, dtype=torch.int32)}
MET = {"input": of(1.0, NAN, 2.0, -INF), "other": of(1.0, NAN, 3.0, -INF)}
SPREAD = {"input": lambda: normal(3, 1), "other": lambda: positive(4)}


def pointwise_cases():
    for op in (
        *("sin", "cos", "tan", "log1p", "expm1", "reciprocal", "square", "sign", "floor", "ceil"),
        *("round", "elu", "selu", "celu", "mish", "hardswish", "hardsigmoid", "softsign"),
    ):
        yield op, {}, SPECIAL, ["input"]
    for op in ("tan", "elu", "softsign"):
        yield op, {}, PLAIN, ["input"]
    for op in ("sin", "reciprocal", "sigmoid", "square", "sign", "floor", "abs", "neg"):
        yield op, {}, WHOLE, []
    for op in ("isnan", "isinf", "isfinite", "logical_not"):
        yield op, {}, SPECIAL, []
        yield op, {}, WHOLE, []
    yield "square", {}, BITS, []
    for decimals in (2, -1):
        yield "round", {"decimals": decimals}, {"input": lambda: normal(3, 4) * 30}, ["input"]
    yield "elu", {"alpha": 0.5}, VIEWED, ["input"]
    yield "celu", {"alpha": -1.5}, VIEWED, ["input"]
    yield "hardswish", {"inplace": True}, VIEWED, [], ["input"]
    yield "threshold", {"threshold": 0.5, "value": -2.0}, SPECIAL, ["input"]
    for shape, weights in (((2, 3, 4), 3), ((2, 3), 3), ((3,), 1), ((), 1), ((0, 2), 1)):
        prelu = {"input": lambda s=shape: normal(*s), "weight": lambda w=weights: normal(w)}
        yield "prelu", {}, prelu, list(prelu)
    for attrs in ({}, {"dim": 1}, {"dim": -3}):
        yield "glu", attrs, {"input": lambda: normal(2, 4, 6)}, ["input"]
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield op, {}, MET, []
        yield op, {}, WHOLES, []
        yield op, {"other": 0.5}, WHOLE, []
    yield "gt", {"other": 3}, WHOLE, []
    yield "le", {}, BITS | {"other": of(True, True)}, []
    yield "lt", {}, {"input": of(1, 2, 3), "other": lambda: normal(2, 1)}, []
    for op in ("logical_and", "logical_or", "logical_xor"):
        yield op, {}, {"input": of(0.0, NAN, 2.0, 0.0), "other": of(1, 0, 3, 0)}, []
    for op in ("add", "sub", "mul", "div", "maximum", "minimum", "remainder", "fmod"):
        yield op, {}, WHOLES, []
        yield op, {}, NARROW, []
    for op in ("add", "mul", "div", "maximum"):
        yield op, {}, BITS | {"other": of(True, True)}, []
    yield "add", {"alpha": 3}, WHOLES, []
    yield "add", {"other": 2.5}, WHOLE, []
    yield "sub", {"other": 300}, {"input": of(5, 200, dtype=torch.uint8)}, []
    for rounding in ("trunc", "floor"):
        yield "div", {"rounding_mode": rounding}, WHOLES, []
        yield "div", {"rounding_mode": rounding, "other": 3}, WHOLE, []
    yield "floor_divide", {}, WHOLES, []
    for op in ("remainder", "fmod"):
        yield op, {}, SPREAD, ["input", "other"]
        yield op, {"other": -0.75}, SPECIAL, ["input"]
        yield op, {}, MET, ["input", "other"]
    yield "clamp", {"min": -3, "max": 4}, WHOLE, []
    yield "clamp", {"max": 2.5}, WHOLE, []
    yield "where", {}, {"condition": of(True, False), "input": of(1, 2), "other": of(3.5, 4.5)}, []


EXTREMES = {"input": of((2.0, NAN, 2.0), (1.0, 0.0, -0.0), (3.0, 3.0, -INF))}
INFINITE = {"input": of((2.0, NAN, 3.0), (1.0, INF, 4.0), (3.0, 1.0, -2.0))}
ZEROS = {"input": of((2.0, 0.0, 3.0), (0.0, 5.0, 0.0), (-2.0, 3.0, 4.0))}
TABLE = {"input": of((5, -7, 0), (3, 3, BIG))}
TRUTHS = {"input": of((True, False, True), (True, True, True))}
CUBE = {"input": lambda: normal(3, 2, 4).transpose(0, 1)}
EMPTY = {"input": lambda: normal(2, 0, 3)}
SCALAR = {"input": lambda: normal()}


def reduction_cases():
    for attrs in ({}, {"dim": -1}, {"dim": 0, "keepdim": True}):
        for op in ("max", "min", "amax", "amin"):
            yield op, attrs, EXTREMES, ["input"]
        for op in ("prod", "max", "min", "amax", "amin"):
            yield op, attrs, TABLE, []
        yield "prod", attrs, INFINITE, ["input"]
        for op in ("any", "all"):
            yield op, attrs, EXTREMES, []
            yield op, attrs, TRUTHS, []
        for op in ("argmax", "argmin"):
            yield op, attrs, EXTREMES, []
            yield op, attrs, TABLE, []
        yield "prod", attrs, ZEROS, ["input"]
        yield "sum", attrs, TABLE, []
        yield "sum", attrs, TRUTHS, []
        yield "std", attrs, CUBE, ["input"]
    for op in ("prod", "max", "min", "std", "amin", "norm"):
        yield op, {}, SCALAR, ["input"]
    yield "prod", {"dim": 1}, EMPTY, ["input"]
    yield "any", {"dim": (0, 1)}, EMPTY, []
    yield "all", {"dim": 1}, EMPTY, []
    yield "any", {}, {"input": of(0, 3, dtype=torch.uint8)}, []
    yield "max", {}, WHOLES, []
    yield "min", {}, MET, ["input", "other"]
    yield "amin", {"dim": (0, -1)}, CUBE, ["input"]
    yield "count_nonzero", {}, ZEROS, []
    yield "count_nonzero", {"dim": (0, 1)}, CUBE, []
    yield "cumsum", {"dim": 1}, TABLE, []
    for attrs in (
        {"correction": 0},
        {"dim": (0, 2), "correction": 2, "keepdim": True},
        {"dim": 1, "unbiased": False},
    ):
        yield "std", attrs, CUBE, ["input"]
    yield "std", {"dim": 1}, {"input": of((3.0, 3.0), (1.0, 2.0), (NAN, 1.0))}, ["input"]
    for p in (0, 0.5, 1, 1.5, 2, 3.5, INF, -INF, -1.0, "fro"):
        wanted = ["input"] if p != 0 else []
        yield "norm", {"p": p}, CUBE, wanted
        yield "norm", {"p": p, "dim": 1}, ZEROS, wanted
    for order in (0, 1, 2, 3, INF, -INF):
        wanted = ["input"] if order != 0 else []
        attrs = {"ord": order, "dim": (0, -1), "keepdim": True}
        yield "linalg.vector_norm", attrs, CUBE, wanted
        yield "linalg.vector_norm", {"ord": order, "dim": 1}, EXTREMES, wanted
    for order in (1, 2, 3):
        yield "linalg.vector_norm", {"ord": order}, EMPTY, ["input"]


def shaped(*shape):
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
            yield "pad", {"pad": pad, "mode": mode}, shaped(*shape), ["input"]
    yield "pad", {"pad": [1, 1], "value": float("inf")}, shaped(2, 0), ["input"]
    yield "pad", {"pad": [1, 0, 0, 2], "value": 7}, whole(2, 3), []
    for dims in ([0], [-1, 1], []):
        yield "flip", {"dims": dims}, shaped(2, 3, 4), ["input"]
    yield "flip", {"dims": [0]}, whole(5), []
    for attrs in ({"shifts": 5}, {"shifts": [1, -5], "dims": [-1, 0]}, {"shifts": 2, "dims": 1}):
        yield "roll", attrs, shaped(3, 4), ["input"]
    yield "roll", {"shifts": 1, "dims": 0}, shaped(0, 4), ["input"]
    for dims in ([2], [2, 1, 3], [0, 2], [1, 1, 1, 2]):
        yield "tile", {"dims": dims}, shaped(2, 3), ["input"]
    for attrs in ({"repeats": 3}, {"repeats": 2, "dim": -2}, {"repeats": 0, "dim": 0}):
        yield "repeat_interleave", attrs, shaped(2, 3), ["input"]
    for attrs in ({"chunks": 4}, {"chunks": 2, "dim": -1}):
        yield "chunk", attrs, shaped(5, 3), ["input"]
    yield "chunk", {"chunks": 3}, shaped(0, 3), ["input"]
    yield "unbind", {"dim": -1}, shaped(3, 2), ["input"]
    yield "movedim", {"source": [0, -1], "destination": [1, 0]}, shaped(2, 3, 4), ["input"]
    yield "movedim", {"source": 0, "destination": -1}, shaped(2, 3, 4), ["input"]
    yield "swapaxes", {"axis0": 0, "axis1": -1}, shaped(2, 3, 4), ["input"]
    for attrs in ({}, {"offset": 1, "dim1": 2, "dim2": 0}, {"offset": -7}):
        yield "diagonal", attrs, shaped(3, 2, 4), ["input"]
    for attrs in ({}, {"offset": -2, "dim1": 0, "dim2": 2}):
        yield "diag_embed", attrs, shaped(3, 2), ["input"]
    yield "diag", {"diagonal": 1}, shaped(3), ["input"]
    yield "diag", {"diagonal": -1}, shaped(3, 3), ["input"]
    yield "broadcast_to", {"size": [2, 3, 4]}, shaped(3, 1), ["input"]


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
    yield "scatter", {"dim": 1}, distinct(2, 3) | shaped(3, 4) | {"src": lambda: normal(2, 3)}, both
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
    yield "take_along_dim", {"dim": 0}, shaped(3, 4) | indices, ["input"]
    yield "take_along_dim", {}, shaped(3, 4) | indices, ["input"]
    yield "masked_select", {}, shaped(3, 4) | {"mask": lambda: torch.rand(2, 1, 4) < 0.5}, ["input"]
    yield "masked_select", {}, whole(3) | {"mask": lambda: torch.zeros(3, dtype=torch.bool)}, []
    yield "nonzero", {}, {"input": lambda: ids(2, 3, 4)}, []
    yield "nonzero", {"as_tuple": True}, special(0.0, nan, -0.0, -inf), []
    yield "gather", {"dim": 0}, whole(3) | {"index": lambda: ids(3, 5)}, []
    yield "index_select", {"dim": 0}, whole(3, 2) | {"index": lambda: ids(3, 5)}, []
    for attrs in ({}, {"dim": 0, "descending": True}, {"dim": -2}):
        yield "sort", attrs, shaped(5, 4), ["input"]
    for descending in (False, True):
        odd = special(2.0, nan, -inf, 0.0, -0.0, inf, 2.0)
        yield "sort", {"stable": True, "descending": descending}, odd, ["input"]
        yield "argsort", {"stable": True, "descending": descending}, whole(4, 6), []
    yield "sort", {"dim": 0}, shaped(), ["input"]
    yield "sort", {"dim": 1}, shaped(2, 0), ["input"]
    for attrs in ({"k": 3}, {"k": 2, "dim": 0, "largest": False}, {"k": 0}):
        yield "topk", attrs, shaped(4, 5), ["input"]
    yield "topk", {"k": 3}, special(1.0, nan, inf, -inf, 3.0), ["input"]
    repeats = {"repeats": lambda: ids(3, 4)}
    yield "repeat_interleave", {"dim": -1}, shaped(3, 4) | repeats, ["input"]
    yield "repeat_interleave", {}, shaped(2, 2) | repeats, ["input"]
    yield "repeat_interleave", {"dim": 0}, shaped(2, 3) | {"repeats": lambda: ids(1, 1) + 2}, ["input"]


def images_resized():
    """What resizes images, cuts windows out of them, and moves channels to pixels."""
    for mode, shape in (("linear", (2, 3, 7)), ("bilinear", (2, 3, 5, 7)), ("trilinear", (1, 2, 3, 4, 5))):
        for attrs in (
            {"size": 4},
            {"scale_factor": 1.7},
            {"scale_factor": 0.6, "align_corners": True},
            {"scale_factor": 1.7, "recompute_scale_factor": True},
        ):
            yield "interpolate", attrs | {"mode": mode}, shaped(*shape), ["input"]
    for mode in ("nearest", "nearest-exact", "area", "bicubic"):
        for attrs in ({"size": [3, 11]}, {"scale_factor": [2, 0.7]}, {"size": [5, 7]}):
            yield "interpolate", attrs | {"mode": mode}, shaped(2, 3, 5, 7), ["input"]
    yield "interpolate", {"mode": "bicubic", "size": [9, 3], "align_corners": True}, shaped(1, 2, 5, 7), ["input"]
    yield "interpolate", {"scale_factor": 2}, shaped(1, 2, 3, 4, 2), ["input"]
    for mode in ("bilinear", "bicubic"):
        for size in ([3, 10], [2, 2]):
            attrs = {"mode": mode, "size": size, "antialias": True}
            yield "interpolate", attrs, shaped(1, 2, 8, 7), ["input"]
    everything = {"kernel_size": [3, 2], "dilation": [1, 2], "padding": [2, 1], "stride": [2, 1]}
    for attrs in ({"kernel_size": 2}, everything, {"kernel_size": 1, "stride": 3}):
        yield "unfold", attrs, shaped(2, 3, 5, 6), ["input"]
    yield "unfold", {"kernel_size": 2, "padding": 1}, shaped(3, 4, 4), ["input"]
    yield "fold", {"output_size": [5, 6], **everything}, shaped(2, 18, 24), ["input"]
    yield "fold", {"output_size": 4, "kernel_size": 2, "stride": 2}, shaped(8, 4), ["input"]
    for shape in ((2, 12, 3, 2), (4, 2, 3), (2, 1, 8, 1, 2)):
        yield "pixel_shuffle", {"upscale_factor": 2}, shaped(*shape), ["input"]
    yield "pixel_shuffle", {"upscale_factor": 2}, shaped(0, 4, 2, 2), []
    for shape in ((2, 2, 4, 6), (3, 2, 2)):
        yield "pixel_unshuffle", {"downscale_factor": 2}, shaped(*shape), ["input"]


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


def rows(*shape):
    return {"input": lambda: normal(2, *shape), "weight": lambda: normal(*shape)}


def norm_cases():
    both = ["input", "weight"]
    yield "rms_norm", {"normalized_shape": [7]}, rows(7), both
    yield "rms_norm", {"normalized_shape": [3, 5], "eps": 0.25}, rows(3, 5), both
    yield "rms_norm", {"normalized_shape": [6], "eps": None}, {"input": lambda: normal(2, 3, 6)}, ["input"]
    yield "rms_norm", {"normalized_shape": [4], "eps": 0.0}, {"input": lambda: normal(0, 4)}, ["input"]
    affine = ["input", "weight", "bias"]
    for shape, groups in (((2, 6, 3, 4), 3), ((3, 4, 5), 1), ((5, 6), 2), ((2, 4, 2, 3), 4), ((0, 4, 3), 2)):
        plain = {name: make for name, make in images(*shape).items() if name in affine}
        yield "group_norm", {"num_groups": groups, "eps": 0.01}, plain, affine
        yield "group_norm", {"num_groups": groups}, {"input": plain["input"]}, ["input"]
    statistics = ["running_mean", "running_var"]
    for shape in ((2, 3, 4, 5), (3, 4, 6), (2, 2, 2, 3, 2)):
        yield "instance_norm", {"momentum": 0.3}, images(*shape), affine, statistics
        yield "instance_norm", {"use_input_stats": False, "eps": 0.1}, images(*shape), affine, statistics
        yield "instance_norm", {}, {"input": images(*shape)["input"]}, ["input"]


def filters(image, weight, outputs):
    return {
        "input": lambda: normal(*image),
        "weight": lambda: normal(*weight),
        "bias": lambda: normal(outputs),
    }


def convolution_cases():
    all_three = ["input", "weight", "bias"]
    for attrs in (
        {},
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"stride": [3, 2], "padding": [0, 2], "output_padding": [2, 1], "dilation": [1, 2]},
        {"dilation": 2, "padding": 1},
    ):
        yield "conv_transpose2d", attrs, filters((2, 4, 5, 3), (4, 3, 3, 2), 3), all_three
        yield "conv_transpose2d", attrs | {"groups": 2}, filters((2, 4, 5, 3), (4, 3, 3, 2), 6), all_three
    yield "conv_transpose2d", {"groups": 4}, filters((2, 4, 5, 3), (4, 1, 3, 3), 4), all_three
    yield "conv_transpose2d", {"stride": 2}, filters((4, 5, 3), (4, 3, 1, 1), 3), ["input"]
    yield "conv_transpose2d", {}, filters((0, 4, 5, 3), (4, 3, 2, 2), 3), all_three
    for attrs in (
        {},
        {"stride": 2, "padding": 3, "dilation": 2},
        {"padding": "same", "groups": 2},
        {"padding": "valid", "stride": [2]},
    ):
        yield "conv1d", attrs, filters((2, 4, 9), (6, 4 // attrs.get("groups", 1), 3), 6), all_three
    yield "conv1d", {}, filters((4, 9), (6, 4, 3), 6), all_three
    for attrs in ({}, {"stride": 3, "padding": 1, "output_padding": 2, "dilation": 2}, {"groups": 2}):
        yield "conv_transpose1d", attrs, filters((2, 4, 5), (4, 3, 3), 3 * attrs.get("groups", 1)), all_three
    yield "conv_transpose1d", {}, filters((4, 5), (4, 3, 3), 3), all_three


def signs(*shape):
    return torch.randint(2, shape) * 2.0 - 1


def probabilities(*shape):
    return torch.rand(shape) * 0.98 + 0.01


def logs(*shape):
    return F.log_softmax(normal(*shape), -1)


def lengths(*values):
    return lambda: torch.tensor(values)


def edge_probabilities():
    return torch.tensor([[0.0, 1e-30, 0.5], [1.0, 1e-8, 0.25]])


KL = {"input": lambda: logs(4, 5), "target": lambda: logs(4, 5).exp()}
KL_ZEROS = KL | {"target": lambda: F.one_hot(ids(5, 4), 5).float()}
BCE = {"input": lambda: probabilities(3, 4), "target": lambda: probabilities(3, 4)}
VECTORS = {"input": lambda: normal(4, 6), "input2": lambda: normal(4, 6), "target": lambda: signs(4)}
RANKED = {"input": lambda: normal(5, 3), "input2": lambda: normal(5, 3), "target": lambda: signs(5, 3)}
HINGE = {"input": lambda: normal(5, 3), "target": lambda: signs(5, 3)}
TRIPLET = {name: lambda: normal(5, 7) for name in ("input", "positive", "negative")}
CTC = {
    "input": lambda: logs(9, 3, 6),
    "targets": lambda: ids(5, 3, 4) + 1,
    "input_lengths": lengths(9, 8, 5),
    "target_lengths": lengths(4, 1, 3),
}
JOINED = CTC | {"targets": lambda: ids(5, 8) + 1}
REPEATED = CTC | {"targets": lambda: torch.ones(3, 4, dtype=torch.int64)}
IMPOSSIBLE = CTC | {"targets": lambda: torch.ones(3, 9, dtype=torch.int64), "target_lengths": lengths(9, 8, 0)}
ONE = {
    "input": lambda: logs(7, 6),
    "targets": lambda: ids(5, 3) + 1,
    "input_lengths": lambda: torch.tensor(7),
    "target_lengths": lambda: torch.tensor(3),
}


def loss_cases():
    for reduction in ("none", "mean", "sum", "batchmean"):
        yield "kl_div", {"reduction": reduction}, KL, ["input", "target"]
        logarithms = KL | {"target": lambda: logs(4, 5)}
        yield "kl_div", {"reduction": reduction, "log_target": True}, logarithms, ["input", "target"]
    yield "kl_div", {"reduction": "sum"}, KL_ZEROS, ["input"]
    for reduction in ("none", "mean", "sum"):
        yield "binary_cross_entropy", {"reduction": reduction}, BCE, ["input", "target"]
    weighted = BCE | {"weight": lambda: positive(4)}
    yield "binary_cross_entropy", {}, weighted, ["input", "target"]
    edges = {"input": edge_probabilities, "target": lambda: torch.tensor([[0.0, 0.0, 0.5], [1.0, 0.25, 1.0]])}
    yield "binary_cross_entropy", {"reduction": "none"}, edges, ["input"]
    gaussian = PAIR | {"var": lambda: positive(3, 4)}
    yield "gaussian_nll_loss", {"full": True}, gaussian, ["input", "target", "var"]
    yield "gaussian_nll_loss", {"reduction": "sum", "eps": 0.9}, gaussian, ["input", "var"]
    yield "gaussian_nll_loss", {"reduction": "none"}, PAIR | {"var": lambda: positive(3, 1)}, ["input", "var"]
    for margin in (0.0, 0.5):
        for reduction in ("none", "mean", "sum"):
            attrs = {"margin": margin, "reduction": reduction}
            yield "margin_ranking_loss", attrs, RANKED, ["input", "input2"]
            yield "hinge_embedding_loss", attrs, HINGE, ["input"]
            yield "cosine_embedding_loss", attrs, VECTORS, ["input", "input2"]
    single = {"input": lambda: normal(6), "input2": lambda: normal(6), "target": lambda: torch.tensor(-1)}
    yield "cosine_embedding_loss", {"margin": -0.5}, single, ["input", "input2"]
    zero = VECTORS | {"input": lambda: torch.zeros(4, 6)}
    yield "cosine_embedding_loss", {"reduction": "none"}, zero, []
    for p in (2.0, 1.0, 3.0, 1.5, float("inf")):
        yield "triplet_margin_loss", {"p": p, "swap": p != 3.0}, TRIPLET, list(TRIPLET)
        yield "pairwise_distance", {"p": p, "keepdim": p == 1.0}, {"input": lambda: normal(4, 5), "x2": lambda: normal(5)}, ["input", "x2"]
    yield "triplet_margin_loss", {"margin": 0.1, "eps": 0.01, "reduction": "none"}, TRIPLET, list(TRIPLET)
    yield "pairwise_distance", {"eps": 0.0}, {"input": lambda: torch.ones(2, 3), "x2": lambda: torch.ones(2, 3)}, ["input"]
    for dim in (0, 1, -1):
        yield "cosine_similarity", {"dim": dim}, {"input": lambda: normal(3, 4, 5), "x2": lambda: normal(4, 5)}, ["input", "x2"]
    yield "cosine_similarity", {"eps": 3.0}, {"input": lambda: normal(3, 4), "x2": lambda: normal(3, 4)}, ["input", "x2"]
    yield "cosine_similarity", {}, {"input": lambda: torch.zeros(2, 4), "x2": lambda: normal(2, 4)}, ["x2"]
    for reduction in ("none", "mean", "sum"):
        yield "ctc_loss", {"reduction": reduction}, CTC, ["input"]
    yield "ctc_loss", {"reduction": "sum"}, JOINED, ["input"]
    yield "ctc_loss", {"blank": 5, "reduction": "none"}, REPEATED, ["input"]
    yield "ctc_loss", {"reduction": "none", "zero_infinity": True}, IMPOSSIBLE, ["input"]
    yield "ctc_loss", {"reduction": "none"}, IMPOSSIBLE, []
    yield "ctc_loss", {"zero_infinity": True}, IMPOSSIBLE, ["input"]
    yield "ctc_loss", {}, ONE, ["input"]
    yield "ctc_loss", {"reduction": "none"}, ONE, ["input"]
    for op in ("mse_loss", "l1_loss", "huber_loss"):
        yield op, {"reduction": "sum"}, {"input": lambda: normal(4, 1), "target": lambda: normal(3)}, ["input", "target"]


# Each family of ops counts its cases from a number of its own, so that none changes with another's.
# A case is known by its op and number.
FAMILIES = (
    (0, cases),
    (100, pointwise_cases),
    (300, reduction_cases),
    (100, moves),
    (200, choices),
    (300, images_resized),
    (400, equations),
    (300, norm_cases),
    (400, loss_cases),
    (500, convolution_cases),
)


def main():
    folder = os.path.normpath(sys.argv[1])
    names = []
    for first, family in FAMILIES:
        for number, case in enumerate(family(), first):
            names.append(write(folder, number, *case))
    with open(f"{folder}.txt", "w") as out:
        out.writelines(f"{name}\n" for name in sorted(names))


main()
