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


# A family's numbers, which seed its values, start at its own hundred.
FAMILIES = {0: cases, 300: norm_cases, 400: loss_cases, 500: convolution_cases}


def main():
    for first, family in FAMILIES.items():
        for number, case in enumerate(family(), first):
            write(sys.argv[1], number, *case)


main()
