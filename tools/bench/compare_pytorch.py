#!/usr/bin/env python3
"""One training step of MobileNetV2, ours and PyTorch's in turn: python tools/bench/compare_pytorch.py [--help]

Both sides start from the same weights and batch (exchanged as a .safetensors file), on the same number of threads; a step is
forward, cross entropy, backward and SGD with momentum (PyTorch's fused one). Dropout is off: two frameworks draw different
numbers. Each mode of PyTorch runs in a process of its own, in turn with ours, a few steps at a time, so that whatever else
the machine does meets both. The first losses must agree to 1e-4; the figures are medians after warm-up.

Modes: eager; channels_last (model and batch in NHWC); compile (torch.compile, with channels_last). Where the CPU is not
Intel's, each also as NAME+mkl: MKL takes a slower path there unless a preloaded library answers its vendor check.

Needs, besides g++ (for torch.compile) and this repository's own build:
    pip install --no-deps torch==2.15.0 torchvision==0.29.2
    pip install safetensors==0.8.0 numpy pillow typing_extensions sympy networkx jinja2 fsspec filelock 'setuptools>=77.0.3'
    pip install --no-deps nvidia-cufile nvidia-cusparselt-cu13==0.8.1 nvidia-nvshmem-cu13 nvidia-nccl-cu13==2.30.7 \\
        nvidia-cudnn-cu13==9.26.0.51      # the default wheel wants them on a CPU too, and a CUDA 13 toolkit's lib64
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PINNED = {"torch": "2.15.0", "torchvision": "0.29.2", "safetensors": "0.8.0"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = ["eager", "channels_last", "compile"]
LEARNING_RATE, MOMENTUM = 0.01, 0.9  # of TrainStepOptions in train_step.h


def check_packages():
    for name, wanted in PINNED.items():
        try:
            got = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            got = "none"
        if got.split("+")[0] != wanted:
            sys.exit(f"compare_pytorch: needs {name} {wanted}, found {got}; --help says what to install")


# --- what runs with PyTorch, in processes of its own ---------------------------------------------------------------


def write_exchange(path, size, batch):
    import torch
    import torchvision
    from safetensors.torch import save_file

    torch.manual_seed(0)
    state = torchvision.models.mobilenet_v2().state_dict()
    tensors = {name: value.contiguous() for name, value in state.items()}
    tensors["images"] = torch.randn(batch, 3, size, size)
    tensors["labels"] = torch.randint(0, 1000, (batch,))
    save_file(tensors, path)


def make_step(path, mode):
    import torch
    import torchvision
    from safetensors.torch import load_file

    tensors = load_file(path)
    images, labels = tensors.pop("images"), tensors.pop("labels")
    model = torchvision.models.mobilenet_v2(dropout=0.0)
    model.load_state_dict(tensors)
    model.train()
    if mode != "eager":
        model = model.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, fused=True)
    forward = torch.compile(model) if mode == "compile" else model

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def worker(path, mode, threads):
    """Answers each number N on stdin with N steps: the same lines as `bench --step_json`."""
    import torch

    torch.set_num_threads(threads)
    step = make_step(path, mode)
    print(json.dumps({"mode": mode}), flush=True)
    for line in sys.stdin:
        losses, seconds = [], []
        for _ in range(int(line)):
            begin = time.perf_counter()
            losses.append(step())
            seconds.append(time.perf_counter() - begin)
        print(json.dumps({"losses": losses, "seconds": seconds}), flush=True)


# --- the driver: standard library alone ---------------------------------------------------------------------------


def torch_environment(threads, preload):
    """The wheel's CUDA libraries must be found even where no GPU is; both sides get as many threads."""
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    site = pathlib.Path(importlib.metadata.distribution("torch").locate_file(""))
    folders = [str(site / "nvidia" / name / "lib") for name in ("nccl", "cudnn", "cusparselt", "cu13", "nvshmem")]
    folders += [os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/lib64", os.environ.get("LD_LIBRARY_PATH", "")]
    env["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    if preload:
        env["LD_PRELOAD"] = preload
    return env


def build_mkl_override(folder):
    source, library = folder / "mkl_intel.c", folder / "mkl_intel.so"
    source.write_text("int mkl_serv_intel_cpu_true(void) { return 1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return str(library)


class Server:
    """A process that answers a number of steps with their losses and seconds."""

    def __init__(self, name, command, env):
        self.name = name
        self.process = subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.hello = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare_pytorch: {self.name} ended with status {self.process.wait()}")
        return json.loads(line)

    def run(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(ours, theirs, options):
    """First losses of both, and seconds of each step after the warm-up, taken in turn."""
    first = [server.run(max(1, options.warmup))["losses"][0] for server in (ours, theirs)]
    seconds = [[], []]
    for _ in range(options.rounds):
        for mine, server in zip(seconds, (ours, theirs)):
            mine += server.run(options.steps)["seconds"]
    return first, [statistics.median(mine) for mine in seconds]


def run_size(size, batch, options, bench, preload, folder):
    exchange = str(folder / f"{size}x{batch}.safetensors")
    script = [sys.executable, os.path.abspath(__file__)]
    env = torch_environment(options.threads, None)
    subprocess.run(script + ["--write", exchange, "--sizes", f"{size}x{batch}"], env=env, check=True)
    rows, hello = [], {}
    for mode in options.modes:
        for override in [None, preload] if preload else [None]:
            name = mode + ("+mkl" if override else "")
            ours = Server("bench", [bench, "--step_json", exchange, "--threads", str(options.threads)],
                          dict(os.environ, OMP_NUM_THREADS=str(options.threads)))
            theirs = Server(name, script + ["--worker", exchange, "--modes", mode, "--threads", str(options.threads)],
                            torch_environment(options.threads, override))
            first, medians = compare(ours, theirs, options)
            ours.close()
            theirs.close()
            if abs(first[0] - first[1]) > 1e-4:
                sys.exit(f"compare_pytorch: first losses differ at {size} x {size}: {first[0]} and {first[1]} ({name})")
            rows.append((name, *medians, first))
            hello = {**ours.hello, "sgemm_gflops": max(ours.hello["sgemm_gflops"], hello.get("sgemm_gflops", 0))}
            print(f"  {name:<18} PyTorch {1e3 * medians[1]:8.1f} ms  ours {1e3 * medians[0]:8.1f} ms  "
                  f"ratio {medians[1] / medians[0]:.2f}  first loss {first[1]:.6f} | {first[0]:.6f}", flush=True)
    return rows, hello


def report(size, batch, rows, hello):
    ours = statistics.median(row[1] for row in rows)
    best = min(rows, key=lambda row: row[2] / row[1])  # fastest beside the steps of ours that it ran in turn with
    share = hello["flops"] / ours / 1e9 / hello["sgemm_gflops"]
    return (f"| {size} x {size}, batch {batch} | {batch / ours:.1f} | {batch / best[2]:.1f} ({best[0]}) | "
            f"{best[2] / best[1]:.2f} | {100 * share:.0f} % of {hello['sgemm_gflops']:.0f} GFLOP/s |")


def find_bench(path):
    if path:
        return os.path.abspath(path)
    subprocess.run([str(ROOT / "bazelw"), "build", "//tools:bench"], check=True, cwd=ROOT)
    return str(ROOT / "bazel-bin/tools/bench/bench")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="224x16,96x32,32x64", help="SIZExBATCH, comma-separated")
    parser.add_argument("--modes", default=",".join(MODES), help="of " + ", ".join(MODES))
    parser.add_argument("--threads", type=int, default=2, help="of each side (default 2)")
    parser.add_argument("--warmup", type=int, default=3, help="steps of each side before any is timed (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side (default 5)")
    parser.add_argument("--steps", type=int, default=3, help="steps a turn (default 3)")
    parser.add_argument("--bench", help="our program; built by ./bazelw where not given")
    parser.add_argument("--no-mkl-override", action="store_true", help="PyTorch only as installed")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.sizes = [tuple(map(int, entry.split("x"))) for entry in options.sizes.split(",")]
    options.modes = options.modes.split(",")
    unknown = set(options.modes) - set(MODES)
    if unknown:
        parser.error(f"unknown mode {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    check_packages()
    if options.write:
        return write_exchange(options.write, *options.sizes[0])
    if options.worker:
        return worker(options.worker, options.modes[0], options.threads)
    bench = find_bench(options.bench)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        intel = "GenuineIntel" in pathlib.Path("/proc/cpuinfo").read_text()
        preload = None if intel or options.no_mkl_override else build_mkl_override(folder)
        lines = []
        for size, batch in options.sizes:
            print(f"MobileNetV2 {size} x {size}, batch {batch}, {options.threads} threads", flush=True)
            lines.append(report(size, batch, *run_size(size, batch, options, bench, preload, folder)))
    print("\n| training step | Torus images/s | PyTorch's best images/s | ratio | our share of the measured SGEMM peak |")
    print("|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
