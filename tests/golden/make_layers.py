#!/usr/bin/env python3
"""Writes layers.safetensors, what layers of torch.nn compute in f64, plateau.safetensors, the rates of
ReduceLROnPlateau, and cases of tools/replay into op_cases.

Each layer is a case: NAME/param/X is its state, NAME/in/X an input, NAME/out/I an output, NAME/grad_out/I its gradient,
NAME/grad_in/X and NAME/grad_param/X what backward gives.

    pip install torch==2.15.0 safetensors numpy
    ./make_layers.py FOLDER
"""
import json
import os
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

assert torch.__version__.split("+")[0] == "2.15.0", torch.__version__


def plain(tensor):
    return tensor.detach().contiguous().clone()


def record(out, name, layer, inputs, call):
    """`inputs`: floating ones get a gradient, if their name does not end in mask."""
    torch.manual_seed(len(out))
    layer = layer.double()
    for p in layer.parameters():  # biases and norms too
        p.data = torch.randn_like(p) * 0.5
    inputs = {key: make() for key, make in inputs.items()}
    leaves = {k: v.requires_grad_(True) for k, v in inputs.items() if v.is_floating_point() and not k.endswith("mask")}
    results = call(layer, **inputs)
    gradients = [torch.randn_like(r) for r in results]
    torch.autograd.backward(results, gradients)
    for key, value in layer.state_dict().items():
        out[f"{name}/param/{key}"] = plain(value)
    for key, value in inputs.items():
        out[f"{name}/in/{key}"] = plain(value)
    for i, (result, gradient) in enumerate(zip(results, gradients)):
        out[f"{name}/out/{i}"] = plain(result)
        out[f"{name}/grad_out/{i}"] = plain(gradient)
    out |= {f"{name}/grad_in/{key}": plain(leaf.grad) for key, leaf in leaves.items()}
    out |= {f"{name}/grad_param/{key}": plain(p.grad) for key, p in layer.named_parameters()}


def normal(*shape):
    return lambda: torch.randn(shape, dtype=torch.float64)


def blocked(*shape):
    """A mask that leaves the first key to every query."""

    def make():
        mask = torch.rand(shape) < 0.4
        mask[..., 0] = False
        return mask

    return make


def attention(out):
    def call(layer, query, key=None, value=None, causal=None, **masks):
        key = query if key is None else key
        value = key if value is None else value
        return (layer(query, key, value, need_weights=False, **masks)[0],)

    def make(**options):
        return nn.MultiheadAttention(6, 3, batch_first=True, **options)

    record(out, "attention.self", make(), {"query": normal(2, 4, 6)}, call)
    masks = {"attn_mask": blocked(4, 4), "key_padding_mask": blocked(2, 4)}
    record(out, "attention.bool", make(bias=False), {"query": normal(2, 4, 6)} | masks, call)
    masks = {"attn_mask": normal(6, 4, 5), "key_padding_mask": blocked(2, 5)}
    record(out, "attention.added", make(), {"query": normal(2, 4, 6), "key": normal(2, 5, 6)} | masks, call)
    widths = {"query": normal(2, 4, 6), "key": normal(2, 5, 3), "value": normal(2, 5, 7)}
    record(out, "attention.widths", make(kdim=3, vdim=7), widths | {"attn_mask": blocked(6, 4, 5)}, call)

    def causal(layer, query, **masks):
        later = torch.ones(4, 4, dtype=torch.bool).triu(1)
        return (layer(query, query, query, need_weights=False, attn_mask=later, **masks)[0],)

    record(out, "attention.causal", make(), {"query": normal(2, 4, 6), "key_padding_mask": blocked(2, 4)}, causal)


def transformer(out):
    for name, options in (("post", {"activation": "relu"}), ("pre", {"activation": "gelu", "norm_first": True})):
        options |= {"dim_feedforward": 10, "dropout": 0.0, "batch_first": True, "layer_norm_eps": 1e-3}
        layer = nn.TransformerEncoderLayer(6, 2, **options)
        norm = lambda: nn.LayerNorm(6, eps=1e-3) if name == "pre" else None
        inputs = {"src": normal(2, 5, 6), "src_key_padding_mask": blocked(2, 5)}
        call = lambda layer, src, **masks: (layer(src, **masks),)
        record(out, f"encoder.{name}", nn.TransformerEncoder(layer, 2, norm(), enable_nested_tensor=False), inputs, call)
        layer = nn.TransformerDecoderLayer(6, 2, **options)
        inputs = {"tgt": normal(2, 4, 6), "memory": normal(2, 5, 6), "tgt_mask": blocked(4, 4)}
        inputs["memory_key_padding_mask"] = blocked(2, 5)
        call = lambda layer, tgt, memory, **masks: (layer(tgt, memory, **masks),)
        record(out, f"decoder.{name}", nn.TransformerDecoder(layer, 2, norm()), inputs, call)


def recurrent(out):
    def run(layer, input, h=None, c=None):
        state = None if h is None else h if c is None else (h, c)
        output, last = layer(input, state)
        return (output, *last) if isinstance(last, tuple) else (output, last)

    for kind, cell in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        record(out, f"{kind}.plain", cell(3, 4), {"input": normal(5, 2, 3)}, run)
        state = {"h": normal(4, 2, 4)} | ({"c": normal(4, 2, 4)} if kind == "lstm" else {})
        deep = cell(3, 4, num_layers=2, batch_first=True, bidirectional=True)
        record(out, f"{kind}.deep", deep, {"input": normal(2, 5, 3)} | state, run)
        record(out, f"{kind}.bare", cell(3, 4, bias=False), {"input": normal(1, 2, 3), "h": normal(1, 2, 4)}
               | ({"c": normal(1, 2, 4)} if kind == "lstm" else {}), run)
    record(out, "lstm.projected", nn.LSTM(3, 4, num_layers=2, proj_size=2), {"input": normal(5, 2, 3)}, run)


def save_case(folder, name, case, tensors):
    path = os.path.join(folder, "op_cases", f"{name}.safetensors")
    save_file(tensors, path, {"format": "1", "case": json.dumps(case)})


def embedding_bags(folder):
    ragged = {"input": torch.tensor([3, 0, 3, 1, 2, 8, 8]), "offsets": torch.tensor([0, 2, 2, 5])}
    rows = {"input": torch.tensor([[3, 0, 1], [8, 3, 2]])}
    factors = {"per_sample_weights": torch.linspace(-1, 2, 7)}
    for number, (attrs, tensors) in enumerate((
        ({"mode": "sum"}, ragged),
        ({"mode": "sum"}, ragged | factors),
        ({"mode": "mean"}, ragged),
        ({"mode": "max"}, ragged),
        ({"mode": "sum"}, rows | {"per_sample_weights": torch.linspace(-1, 2, 6).reshape(2, 3)}),
        ({}, rows),
        ({"mode": "max"}, rows),
        ({"mode": "mean", "padding_idx": 3}, ragged),
        ({"mode": "max", "padding_idx": -6}, ragged),
        ({"mode": "sum", "padding_idx": 8}, ragged | factors),
        ({"mode": "mean", "scale_grad_by_freq": True}, ragged),
        ({"mode": "mean", "max_norm": 1.5}, ragged),
        ({"mode": "sum", "include_last_offset": True}, ragged | {"offsets": torch.tensor([0, 2, 2, 7])}),
        ({"mode": "mean"}, {"input": ragged["input"].int(), "offsets": ragged["offsets"].int()}),
    )):
        torch.manual_seed(number)
        case = {f"in.{name}": plain(value) for name, value in tensors.items()}
        weight = torch.randn(9, 5)
        case["in.weight"] = plain(weight)
        leaves = {"weight": weight.requires_grad_(True)}
        named = dict(tensors)
        if "per_sample_weights" in named:
            leaves["per_sample_weights"] = named["per_sample_weights"] = plain(named["per_sample_weights"]).requires_grad_(True)
        result = F.embedding_bag(named.pop("input"), weight, **named, **attrs)
        case["out.0"] = plain(result)
        case["grad_out.0"] = torch.randn_like(result)
        result.backward(case["grad_out.0"])
        case |= {f"grad_in.{name}": plain(leaf.grad) for name, leaf in leaves.items()}
        if "max_norm" in attrs:
            case["after.weight"] = plain(weight)
        save_case(folder, f"embedding_bag.{number:03}", {"op": "embedding_bag", "attrs": attrs}, case)


def optimizers(folder):
    matrix, vector = (7, 12), (19,)
    for number, (name, shape, attrs) in enumerate((
        ("adagrad", vector, {"lr": 0.1}),
        ("adagrad", vector, {"lr": 0.1, "lr_decay": 0.01, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
        ("rmsprop", vector, {"lr": 0.02}),
        ("rmsprop", vector, {"lr": 0.02, "alpha": 0.9, "momentum": 0.8, "weight_decay": 0.1, "maximize": True}),
        ("rmsprop", vector, {"lr": 0.02, "centered": True, "eps": 1e-3}),
        ("rmsprop", vector, {"lr": 0.02, "centered": True, "momentum": 0.9}),
        ("muon", matrix, {"lr": 0.02}),
        ("muon", matrix[::-1], {"lr": 0.02, "momentum": 0.9, "nesterov": False, "weight_decay": 0.0}),
        ("muon", matrix, {"lr": 0.02, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3}),
    )):
        torch.manual_seed(number)
        steps = 4
        p = nn.Parameter(torch.randn(shape))
        case = {"param.p": plain(p), "grad.p": torch.randn(steps, *shape)}
        kind = {"adagrad": torch.optim.Adagrad, "rmsprop": torch.optim.RMSprop, "muon": torch.optim.Muon}[name]
        optimizer = kind([p], **attrs)
        after = []
        for gradient in case["grad.p"]:
            p.grad = gradient.clone()
            optimizer.step()
            after.append(plain(p))
        case["out.p"] = torch.stack(after)
        spec = {"op": "optimizer", "optimizer": {"name": name} | attrs, "steps": steps}
        save_case(folder, f"optimizer.{name}.{number:03}", spec, case)


def plateau(folder):
    torch.manual_seed(0)
    metrics = torch.cat([torch.linspace(2, 1, 8), 1 + 0.08 * torch.randn(30)]).double()
    metrics[20] = float("nan")
    out = {"min_metrics": metrics, "max_metrics": 3 - metrics}
    for name, options in {
        "min": {"patience": 2},
        "max": {"mode": "max", "factor": 0.5, "patience": 1, "threshold": 0.05},
        "abs": {"patience": 0, "threshold": 0.1, "threshold_mode": "abs", "cooldown": 3, "min_lr": 0.01},
        "abs_max": {"mode": "max", "patience": 0, "threshold_mode": "abs", "eps": 0.05},
    }.items():
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.5)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rates = []
        for metric in out[options.get("mode", "min") + "_metrics"]:
            scheduler.step(metric.item())
            rates.append(optimizer.param_groups[0]["lr"])
        out[name] = torch.tensor(rates, dtype=torch.float64)
    save_file(out, os.path.join(folder, "plateau.safetensors"))


def main():
    folder, out = sys.argv[1], {}
    attention(out)
    transformer(out)
    recurrent(out)
    save_file(out, os.path.join(folder, "layers.safetensors"))
    embedding_bags(folder)
    optimizers(folder)
    plateau(folder)


if __name__ == "__main__":
    main()
