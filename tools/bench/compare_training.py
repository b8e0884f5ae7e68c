#!/usr/bin/env python3
"""Whole training runs, ours and PyTorch's, one after the other: python tools/bench/compare_training.py RECIPE --data PATH

Recipes, the same flags on our side and the same numbers on PyTorch's:
  gpt-char      nanoGPT's small model of characters, its recipe for a CPU, on a text file (tiny Shakespeare): 4 layers and heads,
                width 128, windows of 64, batch 12, 2000 steps of AdamW, 1e-3 to 1e-4 along a cosine after 100 steps of
                warm-up, beta2 0.99, decay 0.1 of matrices, clipping at norm 1, no dropout; the last tenth of the text
                is for validation, in disjoint windows
  resnet20      the CIFAR ResNet-20 with its paper's recipe (He et al. 2016, section 4.2) in 10 epochs instead of 164: batch
                128, SGD with momentum 0.9 and decay 1e-4, rate 0.1 divided by 10 after epochs 4 and 8, crops from 4 pixels
                of padding and flips, on a folder of CIFAR-10's binary files

Each seed trains both sides, one after the other: gpt-char from their own random initialisation of the same distributions,
resnet20 from PyTorch's random weights on both sides, as its accuracy after so few epochs hangs on them by more than a point. Wall
time is of the training steps alone; start-up and validation stand aside. PyTorch runs eager: --compile asks for
torch.compile; where the CPU is not Intel's, MKL's vendor check is answered for it unless --no-mkl-override. Needs what
compare_pytorch.py needs, and numpy.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import compare_pytorch

ROOT = compare_pytorch.ROOT

# --- PyTorch's side, in a process of its own -----------------------------------------------------------------------


def cosine_factor(step, steps, warmup, least):
    if step < warmup:
        return (step + 1) / (warmup + 1)
    return least + (1 - least) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def character_gpt(vocabulary):
    import torch
    from torch import nn
    from torch.nn import functional

    width, heads, layers, positions = 128, 4, 4, 64

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
            self.qkv, self.mix = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
            self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

        def forward(self, x):
            rows, length, _ = x.shape
            split = (part.view(rows, length, heads, -1).transpose(1, 2) for part in self.qkv(self.ln_1(x)).split(width, dim=2))
            seen = functional.scaled_dot_product_attention(*split, is_causal=True)
            x = x + self.mix(seen.transpose(1, 2).reshape(rows, length, width))
            return x + self.down(functional.gelu(self.up(self.ln_2(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
            self.blocks, self.ln_f = nn.ModuleList(Block() for _ in range(layers)), nn.LayerNorm(width, bias=False)
            for name, p in self.named_parameters():
                if p.dim() == 2:
                    residual = "mix" in name or "down" in name
                    nn.init.normal_(p, std=0.02 / math.sqrt(2 * layers) if residual else 0.02)

        def forward(self, tokens, targets):
            x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
            for block in self.blocks:
                x = block(x)
            logits = functional.linear(self.ln_f(x), self.wte.weight)
            return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return Model()


def train_gpt_char(options):
    import numpy
    import torch

    text = pathlib.Path(options.data).read_text(encoding="utf-8")
    letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
    tokens = torch.from_numpy(numpy.array([letters[letter] for letter in text]))
    cut = int(0.9 * len(tokens))
    train, validation = tokens[:cut], tokens[cut:]
    torch.manual_seed(options.seed)
    model = character_gpt(len(letters))
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)
    run = torch.compile(model) if options.compile else model
    begin = time.perf_counter()
    for step in range(options.steps):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * cosine_factor(step, options.steps, 100, 0.1)
        places = torch.randint(len(train) - 64, (12,)).tolist()
        loss = run(torch.stack([train[i : i + 64] for i in places]), torch.stack([train[i + 1 : i + 65] for i in places]))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    seconds = time.perf_counter() - begin
    windows = (len(validation) - 1) // 64
    inputs, targets = (validation[s : s + 64 * windows].view(windows, 64) for s in (0, 1))
    with torch.no_grad():
        sums = [model(x, y).item() * len(x) for x, y in zip(inputs.split(100), targets.split(100))]
    return {"seconds": seconds, "score": sum(sums) / windows}


def cifar_resnet20():
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        def __init__(self, fan_in, out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(fan_in, out, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
            self.bn1, self.bn2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
            self.stride, self.more = stride, out - fan_in

        def forward(self, x):
            y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
            if self.more or self.stride > 1:  # option A: every other pixel, zeros for the new channels
                x = functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.more // 2, self.more // 2))
            return functional.relu(y + x)

    layers = {"conv1": nn.Conv2d(3, 16, 3, 1, 1, bias=False), "bn1": nn.BatchNorm2d(16), "relu": nn.ReLU()}
    width = 16
    for group, out in enumerate((16, 32, 64), 1):
        blocks = [Block(width if i == 0 else out, out, 2 if i == 0 and out > width else 1) for i in range(3)]
        layers[f"layer{group}"], width = nn.Sequential(*blocks), out
    layers |= {"pool": nn.AdaptiveAvgPool2d(1), "flatten": nn.Flatten(), "linear": nn.Linear(64, 10)}
    model = nn.Sequential(collections.OrderedDict(layers))
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(module.weight)
    return model


def read_cifar(folder, names, mean, deviation):
    import numpy
    import torch

    base = pathlib.Path(folder)
    base = base / "cifar-10-batches-bin" if (base / "cifar-10-batches-bin").exists() else base
    records = numpy.concatenate([numpy.fromfile(base / name, numpy.uint8).reshape(-1, 3073) for name in names])
    images = torch.from_numpy(records[:, 1:].reshape(-1, 3, 32, 32).astype(numpy.float32) / 255)
    images = (images - torch.tensor(mean).view(3, 1, 1)) / torch.tensor(deviation).view(3, 1, 1)
    return images, torch.from_numpy(records[:, 0].astype(numpy.int64))


def augmented(padded, rows):
    """Crops from images with 4 pixels of padding, half of them mirrored."""
    import torch

    down, right = torch.randint(9, (2, len(rows))).tolist()
    crops = torch.stack([padded[n, :, i : i + 32, j : j + 32] for n, i, j in zip(rows.tolist(), down, right)])
    flip = torch.rand(len(rows)) < 0.5
    crops[flip] = crops[flip].flip(3)
    return crops


def write_resnet20(seed, path):
    """The weights from which train_resnet20 starts."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(seed)
    save_file(cifar_resnet20().state_dict(), path)


def train_resnet20(options):
    import torch
    from torch.nn import functional

    mean, deviation = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
    images, labels = read_cifar(options.data, [f"data_batch_{i}.bin" for i in range(1, 6)], mean, deviation)
    test, answers = read_cifar(options.data, ["test_batch.bin"], mean, deviation)
    black = [-m / d for m, d in zip(mean, deviation)]  # padding is of black pixels, before the normalisation
    padded = torch.tensor(black).view(1, 3, 1, 1).repeat(len(images), 1, 40, 40)
    padded[:, :, 4:36, 4:36] = images
    torch.manual_seed(options.seed)
    model = cifar_resnet20().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused=True)
    run = torch.compile(model) if options.compile else model
    begin, step = time.perf_counter(), 0
    for epoch in range(options.epochs):
        for group in optimizer.param_groups:
            group["lr"] = 0.1 * 0.1 ** (epoch // 4)
        for rows in torch.randperm(len(images)).split(128):
            if step == options.steps:
                break
            step += 1
            batch = augmented(padded, rows).contiguous(memory_format=torch.channels_last)
            optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(run(batch), labels[rows]).backward()
            optimizer.step()
    seconds = time.perf_counter() - begin
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in zip(test.split(500), answers.split(500)))
    return {"seconds": seconds, "score": 100 * right / len(test)}


# --- ours, and the driver ------------------------------------------------------------------------------------------

RECIPES = {
    "gpt-char": {"train": train_gpt_char, "steps": 2000, "score": "validation loss", "flags": "--preset gpt-char-shakespeare"},
    "resnet20": {"train": train_resnet20, "write": write_resnet20, "steps": 3910, "score": "accuracy, %",
                 "flags": "--model cifar_resnet20 --data cifar10 --augment crop-flip --batch-size 128 --micro-batches 1 "
                          "--stages 1 --codec none --lr 0.1 --momentum 0.9 --weight-decay 1e-4 --no-nesterov "
                          "--lr-schedule step:4:0.1 --warmup 0"},
}


def run_ours(options, recipe, folder):
    out = folder / f"ours_{options.seed}"
    flags = recipe["flags"].split() + ["--data-dir", options.data, "--seed", str(options.seed), "--threads", str(options.threads),
                                       "--max-steps", str(options.steps), "--out", str(out)]
    if options.recipe == "resnet20":
        weights = folder / f"weights_{options.seed}.safetensors"
        subprocess.run(worker_command(options) + ["--write", str(weights)], check=True)
        flags += ["--epochs", str(options.epochs), "--init", str(weights)]
    subprocess.run([options.train] + flags, check=True, stdout=subprocess.DEVNULL)
    summary = json.loads((out / "summary.json").read_text())
    score = 100 * summary["test"]["accuracy"] if "accuracy" in summary["test"] else summary["test"]["loss"]
    return {"seconds": summary["seconds"], "score": score}


def worker_command(options):
    return [sys.executable, os.path.abspath(__file__), options.recipe, "--data", options.data, "--seed", str(options.seed),
            "--threads", str(options.threads), "--steps", str(options.steps), "--epochs", str(options.epochs), "--worker"]


def run_theirs(options, preload):
    command = worker_command(options)
    env = compare_pytorch.torch_environment(options.threads, preload)
    answer = subprocess.run(command + (["--compile"] if options.compile else []), env=env, check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout.splitlines()[-1])


def worker(options):
    import torch

    torch.set_num_threads(options.threads)
    if options.write:
        return RECIPES[options.recipe]["write"](options.seed, options.write)
    print(json.dumps(RECIPES[options.recipe]["train"](options)), flush=True)


def find_train(path):
    if path:
        return os.path.abspath(path)
    subprocess.run([str(ROOT / "bazelw"), "build", "//tools:train"], check=True, cwd=ROOT)
    return str(ROOT / "bazel-bin/tools/train/train")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=list(RECIPES))
    parser.add_argument("--data", required=True, help="the text file, or the folder of CIFAR-10")
    parser.add_argument("--seeds", default="1", help="comma-separated; a run of each side for each (default 1)")
    parser.add_argument("--threads", type=int, default=2, help="of each side (default 2)")
    parser.add_argument("--steps", type=int, help="fewer than the recipe's, to try the script")
    parser.add_argument("--epochs", type=int, default=10, help="of resnet20 (default 10)")
    parser.add_argument("--compile", action="store_true", help="PyTorch by torch.compile; compiling counts as its time")
    parser.add_argument("--no-mkl-override", action="store_true", help="PyTorch as installed")
    parser.add_argument("--train", help="our program; built by ./bazelw where not given")
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.data = os.path.abspath(options.data)
    options.steps = options.steps or RECIPES[options.recipe]["steps"]
    return options


def main():
    options = parse()
    if options.worker:
        return worker(options)
    compare_pytorch.check_packages()
    options.train = find_train(options.train)
    recipe, rows = RECIPES[options.recipe], []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        intel = "GenuineIntel" in pathlib.Path("/proc/cpuinfo").read_text()
        preload = None if intel or options.no_mkl_override else compare_pytorch.build_mkl_override(folder)
        for seed in options.seeds.split(","):
            options.seed = int(seed)
            ours, theirs = run_ours(options, recipe, folder), run_theirs(options, preload)
            rows.append((ours, theirs))
            print(f"seed {seed}: {recipe['score']} {ours['score']:.4f} | PyTorch {theirs['score']:.4f}; "
                  f"training {ours['seconds']:.1f} s | {theirs['seconds']:.1f} s", flush=True)
    mean = [[statistics.mean(row[side][key] for row in rows) for side in (0, 1)] for key in ("score", "seconds")]
    print(f"mean of {len(rows)}: {recipe['score']} {mean[0][0]:.4f} | {mean[0][1]:.4f}; "
          f"training {mean[1][0]:.1f} s | {mean[1][1]:.1f} s: {mean[1][1] / mean[1][0]:.2f} times as fast")


if __name__ == "__main__":
    main()
