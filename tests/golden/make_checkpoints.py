#!/usr/bin/env python3
"""Writes checkpoints/: small checkpoints as training programs of many kinds save them, and what PyTorch takes from each.

    pip install torch==2.15.0 numpy==2.4.6 safetensors==0.8.0
    ./make_checkpoints.py FOLDER

expected.safetensors holds a model's state under "plain.", that of an averaged model under "ema.", and one of 8- and
16-bit values under "narrow.", each as torch.load and load_state_dict give it. Nothing in the tests needs Python.
"""
import argparse
import collections
import copy
import json
import os
import pathlib
import sys

import numpy
import torch
from safetensors.torch import save_file
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, bias=False)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.bn(self.conv(x))).mean((2, 3)))


class Lightning(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.criterion = nn.CrossEntropyLoss(weight=torch.ones(3))


class Evil:
    """Would write a file if a reader called what the pickle names."""

    def __reduce__(self):
        return os.system, ("touch /tmp/torus_read_a_pickle_and_called_it",)


class Meter:
    def __init__(self):
        self.sum, self.history = 3.5, [1, 2, 3]


def train(model, averaged, optimizer, steps=3):
    generator = torch.Generator().manual_seed(2)
    for _ in range(steps):
        x, y = torch.rand(8, 3, 6, 6, generator=generator), torch.randint(3, (8,), generator=generator)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        averaged.update_parameters(model)


def with_prefix(prefix, state):
    return collections.OrderedDict((prefix + name, value) for name, value in state.items())


def beside():
    """What lies beside weights: each kind once."""
    return {
        "args": argparse.Namespace(lr=0.1, device=torch.device("cuda:0"), path=pathlib.PurePosixPath("a/b"), tags={"x"}),
        "classes_seen": {3, 1, 2},
        "frozen": frozenset(["a"]),
        "counts": collections.Counter("aab"),
        "history": collections.defaultdict(list, {"loss": [1.5, 1.25], "accuracy": [numpy.float64(0.5), numpy.float32(0.75)]}),
        "raw": b"\x00\xff bytes",
        "array": numpy.arange(3),
        "size": torch.Size([2, 3]),
        "dtype": torch.bfloat16,
        "rng": torch.get_rng_state()[:8].clone(),
        "meter": Meter(),
        "best": numpy.float64(91.73),
        "wide": 2**70,
        "complex": torch.tensor([1 + 2j]),
        "hostile": Evil(),
    }


def main():
    folder = os.path.join(sys.argv[1], "checkpoints")
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(1)
    model = Net()
    averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5), use_buffers=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    train(model, averaged, optimizer)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    averaged.multi_avg_fn = None  # a local function, which pickle does not take
    plain, ema = model.state_dict(), averaged.module.state_dict()
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    common = {"epoch": 3, "arch": "net", "best_acc1": torch.tensor(91.5), "optimizer": optimizer.state_dict()}
    half = collections.OrderedDict((name, value.half()) for name, value in plain.items())
    expanded = copy.copy(plain)
    expanded["fc.bias"] = torch.zeros(1).expand(3)
    expanded["conv.weight"] = plain["conv.weight"].to(memory_format=torch.channels_last)
    parameters = collections.OrderedDict((name, nn.Parameter(v) if v.is_floating_point() else v) for name, v in plain.items())
    parameters["fc.bias"].note = "a parameter with an attribute"
    # Negative only by a bit beside the storage, as conj() leaves an imaginary part; the values are those of `plain`.
    negative = copy.copy(plain)
    negative["fc.bias"] = torch._neg_view(-plain["fc.bias"].double())
    negative["conv.weight"] = torch.complex(plain["conv.weight"], -plain["conv.weight"]).conj().imag
    quantized = torch.quantize_per_tensor(plain["fc.weight"], 0.1, 0, torch.qint8)
    unread = {
        "weights": plain, "complex": torch.tensor([1 + 2j]), "wide": torch.zeros(3, dtype=torch.complex128), "qint8": quantized,
        "qint32": torch.quantize_per_tensor(plain["fc.weight"], 0.1, 0, torch.qint32), "sparse": torch.eye(3).to_sparse(),
        "quint8": torch.quantize_per_tensor(plain["fc.weight"], 0.1, 0, torch.quint8), "complex_weights": plain["fc.weight"] * 1j,
        "quint4": torch.quantize_per_tensor(plain["fc.weight"], 0.1, 0, torch.quint4x2), "after": torch.tensor([1.5]),
    }
    compiled = with_prefix("_orig_mod.", plain)
    cases = {
        "imagenet": {**common, "state_dict": plain},
        "imagenet_parallel": {**common, "state_dict": with_prefix("module.", plain)},
        "torchvision": {"model": plain, "optimizer": sgd.state_dict(), "lr_scheduler": schedule.state_dict(), "epoch": 3, "args": beside()["args"]},
        "torchvision_ema": {"model": plain, "model_ema": averaged.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3},
        "model_state_dict": {"model_state_dict": plain, "optimizer_state_dict": optimizer.state_dict(), "loss": 0.25},
        "lightning": {
            "epoch": 1, "global_step": 3, "pytorch-lightning_version": "2.5.0",
            "state_dict": Lightning(model).state_dict(), "loops": {"fit_loop": {"state_dict": {}}}, "callbacks": {},
            "optimizer_states": [optimizer.state_dict()], "lr_schedulers": [], "hparams_name": "kwargs",
            "hyper_parameters": {"lr": 0.1},
        },
        "compiled": compiled,
        "compiled_parallel": {"state_dict": with_prefix("module.", compiled)},
        "parallel_compiled": {"net": with_prefix("_orig_mod.module.", plain)},
        "part_compiled": collections.OrderedDict((k.replace("bn.", "bn._orig_mod."), v) for k, v in plain.items()),
        "averaged": averaged.state_dict(),
        "averaged_nested": {"average": {"weights": averaged.state_dict()}, "step": 3},
        "chain": {"checkpoint": {"student": {"net": with_prefix("backbone.module.", plain)}, "iteration": 3}},
        "beside": {"weights": plain, **beside()},
        "half": half,
        "expanded": {"state_dict": expanded},
        "parameters": {"params": parameters},
        "whole_model": model,
        "whole_model_in_dict": {"model": nn.DataParallel(model), "ema": averaged, "epoch": 3},
        "ambiguous": {"net_a": plain, "net_b": ema},
        "twice": {"net_a": plain, "net_b": plain},
        "negative": negative,
        "unread": unread,
        "unread_weights": {"state_dict": {
            **plain, "fc.weight": plain["fc.weight"].to_sparse(), "bn.bias": torch.quantize_per_tensor(
                plain["bn.bias"], 0.1, 10, torch.qint8), "bn.weight": torch.complex(plain["bn.weight"], plain["bn.bias"])}},
        "no_tensors": {"epoch": 3, "args": {"lr": 0.1}, "note": "weights are elsewhere"},
    }
    for name, case in cases.items():
        torch.save(case, os.path.join(folder, name + ".pth"))
    for name in ("torchvision_ema", "beside", "negative", "unread"):
        torch.save(cases[name], os.path.join(folder, name + "_legacy.pth"), _use_new_zipfile_serialization=False)
    for protocol in (1, 3, 4, 5):
        torch.save(cases["beside"], os.path.join(folder, f"beside_protocol{protocol}.pth"), pickle_protocol=protocol)

    # Types that hold the weights in 8 or 16 bits, or as integers.
    types = {
        "conv.weight": torch.float8_e4m3fn, "bn.weight": torch.float8_e5m2, "bn.bias": torch.int8, "bn.running_mean": torch.int16,
        "bn.running_var": torch.uint16, "bn.num_batches_tracked": torch.uint8, "fc.weight": torch.uint32, "fc.bias": torch.bool,
    }
    scaled = {name: (value.float() * 100).abs() if t in (torch.uint16, torch.uint32) else value.float() * 100 for (name, value), t in
              ((item, types[item[0]]) for item in plain.items())}
    scaled["bn.num_batches_tracked"] = plain["bn.num_batches_tracked"]
    narrow = {name: scaled[name].to(types[name]).contiguous() for name in plain}
    save_file(narrow, os.path.join(folder, "narrow.safetensors"))
    torch.save(narrow, os.path.join(folder, "narrow.pth"))

    # Hugging Face folders of the older form, and an index that lists a tied tensor which its shard lacks, or the reverse.
    names = list(plain)
    shards = {"pytorch_model-00001-of-00002.bin": names[:3], "pytorch_model-00002-of-00002.bin": names[3:]}
    for file, part in shards.items():
        torch.save(collections.OrderedDict((name, plain[name]) for name in part), os.path.join(folder, file))
    index = {"metadata": {"total_size": 0}, "weight_map": {name: file for file, part in shards.items() for name in part}}
    with open(os.path.join(folder, "pytorch_model.bin.index.json"), "w") as out:
        json.dump(index, out, indent=2)

    loaded = {"plain": plain, "ema": ema, "expanded": expanded, "half": half, "narrow": narrow}
    expected = {}
    for name, state in loaded.items():
        taken = Net()
        taken.load_state_dict(state)
        expected.update({f"{name}.{key}": value.detach().clone().contiguous() for key, value in taken.state_dict().items()})
    save_file(expected, os.path.join(folder, "expected.safetensors"))


main()
