#!/usr/bin/env python3
"""LSTM layers, ours and PyTorch's in turn: python tools/bench/compare_recurrent.py [--help]

A layer of 256 units over 50 steps in f32 (recurrent_bench.cc): its forward without gradients, and forward and backward with
the gradients of input and weights. Each side runs in a process of its own; a round's figure is the median of its calls (ours:
the benchmark's mean), the table's the median of the rounds. Needs torch, and two cores that nothing else uses.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS, STEPS, CALLS = 256, 50, 15
BATCHES = [1, 8, 32, 128]


def measure_torch(threads):
    """Prints {"forward/1": ms, ...}."""
    import torch

    torch.set_num_threads(threads)
    layer = torch.nn.LSTM(UNITS, UNITS)

    def median(call):
        seconds = []
        for _ in range(3 + CALLS):  # three warm up
            begin = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - begin)
        return 1e3 * statistics.median(seconds[3:])

    figures = {}
    for batch in BATCHES:
        x = torch.randn(STEPS, batch, UNITS, requires_grad=True)
        ones = torch.ones(STEPS, batch, UNITS)

        def train():
            layer.zero_grad()
            x.grad = None
            layer(x)[0].backward(ones)

        with torch.no_grad():
            figures[f"forward/{batch}"] = median(lambda: layer(x))
        figures[f"train/{batch}"] = median(train)
    print(json.dumps(figures))


def measure_ours(bench, threads):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([bench, "--threads", str(threads), "--benchmark_filter=^lstm", f"--benchmark_out={out.name}",
                        "--benchmark_out_format=json"], check=True, stdout=subprocess.DEVNULL)
        runs = json.load(open(out.name))["benchmarks"]
    return {"/".join(run["name"].split("/")[1:3]): run["real_time"] for run in runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of both sides in turn (default 3)")
    parser.add_argument("--threads", type=int, default=2, help="of each side (default 2)")
    parser.add_argument("--torch", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch:
        return measure_torch(options.threads)
    subprocess.run([ROOT / "bazelw", "build", "//tools/bench"], cwd=ROOT, check=True)
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(measure_ours(ROOT / "bazel-bin/tools/bench/bench", options.threads))
        run = subprocess.run([sys.executable, __file__, "--torch", "--threads", str(options.threads)], check=True,
                             stdout=subprocess.PIPE, text=True)
        theirs.append(json.loads(run.stdout))
    print("| | batch | ours, ms | PyTorch, ms | ratio |\n|---|---|---|---|---|")
    for what in ["forward", "train"]:
        for batch in BATCHES:
            name = f"{what}/{batch}"
            mine, other = (statistics.median(side[name] for side in sides) for sides in (ours, theirs))
            print(f"| {what} | {batch} | {mine:.2f} | {other:.2f} | {other / mine:.2f} |")


if __name__ == "__main__":
    main()
