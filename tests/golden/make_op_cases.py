#!/usr/bin/env python3
"""Writes op_cases: calls of PyTorch's functions with rarer arguments, as cases of tools/replay.

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


def write(folder, number_of_case, op, attrs, tensors, wanted, changed=()):
    """`wanted`: the arguments that get a gradient; `changed`: those that are changed in place."""
    torch.manual_seed(number_of_case)
    arguments = {name: make() for name, make in tensors.items()}
    case = {f"in.{name}": dense(value) for name, value in arguments.items()}
    for name in wanted:
        arguments[name].requires_grad_(True)
    named = dict(arguments)
    out = function(op)(named.pop(next(iter(named))), **named, **attrs)
    outs = [out] if torch.is_tensor(out) else list(out)
    case |= {f"out.{i}": dense(value) for i, value in enumerate(outs)}
    roots = [(i, value) for i, value in enumerate(outs) if value.requires_grad]
    case |= {f"grad_out.{i}": dense(torch.randn_like(value)) for i, value in roots}
    if roots:
        torch.autograd.backward([v for _, v in roots], [case[f"grad_out.{i}"] for i, _ in roots])
    case |= {f"grad_in.{name}": dense(arguments[name].grad) for name in wanted}
    case |= {f"after.{name}": dense(arguments[name]) for name in changed}
    attrs = {name: number(value) for name, value in attrs.items()}
    metadata = {"format": "1", "case": json.dumps({"op": op, "attrs": attrs})}
    save_file(case, os.path.join(folder, f"{op}.{number_of_case:03}.safetensors"), metadata)


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


def main():
    groups = ((0, cases()), (100, pointwise_cases()), (300, reduction_cases()))
    for first, group in groups:
        for number_of_case, case in enumerate(group, first):
            write(sys.argv[1], number_of_case, *case)


main()
