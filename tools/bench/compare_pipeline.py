#!/usr/bin/env python3
"""Pipelines of two stages beside one core, and beside torch.distributed.pipelining: python tools/bench/compare_pipeline.py [--help]

blocks     A GPT-2 of 8 blocks on the bytes of a text, rows of 128 tokens, micro-batches of one row. The one-core speed is that of
           two independent runs of one stage at a time, each on a core and thread of its own, so that both sides find the machine
           equally busy. Two stages of one thread each reach at most K M / (M + K - 1) times that, K = 2 (Huang et al. 2019,
           "GPipe", section 2.3); printed is the share of it. Runs of all modes in turn, in the other order every second round;
           the figure is the median of the rounds' ratios, a run's time the median of its steps but the first.
mobilenet  MobileNetV2 at 32 x 32, batch 64, GPipe of two ranks with 4 micro-batches, one thread a rank, and the same with
           torch.distributed.pipelining over gloo: two processes, the model cut where ours is, SGD with momentum. Needs what
           compare_pytorch.py needs.

Needs two cores that nothing else uses.
"""
import argparse
import gzip
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile

import compare_pytorch

ROOT = pathlib.Path(__file__).resolve().parents[2]
MPIRUN = "mpirun -n 2 --oversubscribe --allow-run-as-root --bind-to none --mca btl self,vader --mca plm isolated".split()
SIZES = {8: 5, 32: 3}  # micro-batches: steps of a run
MODES = {"gpipe": [], "1f1b": ["--schedule", "1f1b"], "zb-h1": ["--schedule", "zb-h1"], "gpipe over MPI": []}


def write_text(path):
    """Words of this repository's documents, no more than a run needs: what is tested at its end is a part of them."""
    words = b"".join(sorted(p.read_bytes() for p in (ROOT / "docs").glob("*.md")))
    path.write_bytes(words[:40_000])


def write_images(folder):
    """28 x 28 noise in MNIST's format."""
    for name, count in (("train", 2048), ("t10k", 64)):
        pixels, labels = os.urandom(count * 28 * 28), bytes(i % 10 for i in range(count))
        for kind, head, body in (("images-idx3", (0x803, count, 28, 28), pixels), ("labels-idx1", (0x801, count), labels)):
            (folder / f"{name}-{kind}-ubyte.gz").write_bytes(gzip.compress(struct.pack(f">{len(head)}I", *head) + body, 1))


def command(options, folder, name, micro_batches, flags):
    steps = SIZES[micro_batches]
    return [options.train, "--model", "gpt2:8", "--data", "text", "--data-dir", str(folder / "text.txt"), "--tokenizer", "bytes",
            "--length", "128", "--batch-size", str(micro_batches), "--micro-batches", str(micro_batches), "--epochs", "1",
            "--epoch-size", str(micro_batches * steps), "--max-steps", str(steps - 1), "--checkpoint-every", "1000",
            "--eval-every", "1000", "--out", str(folder / name), *flags]


def start(words, core=None):
    pin = ["taskset", "-c", str(core)] if core is not None else []
    env = dict(os.environ, TMPDIR="/tmp")
    return subprocess.Popen(pin + words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    said = process.communicate()[1]
    if process.returncode:
        sys.exit(f"compare_pipeline: {' '.join(process.args)} ended with status {process.returncode}: {said}")


def read(folder):
    """Seconds of a step, and the peak bytes of all tensors."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    seconds = [line["seconds"] for line in lines if line["kind"] == "train"]
    summary = json.loads((folder / "summary.json").read_text())
    return statistics.median(seconds[1:]), summary["memory"]["peak_bytes"]


def one_core(options, folder, micro_batches):
    names = ["one-core-0", "one-core-1"]
    runs = [start(command(options, folder, n, micro_batches, ["--threads", "1"]), core) for core, n in enumerate(names)]
    for run in runs:
        finish(run)
    return statistics.mean(read(folder / name)[0] for name in names)


def pipeline(options, folder, mode, micro_batches):
    words = command(options, folder, "pipeline", micro_batches, ["--stages", "2", "--threads", "2", *MODES[mode]])
    finish(start(MPIRUN + words if "MPI" in mode else words))
    return read(folder / "pipeline")


def clear(folder):
    for name in ("one-core-0", "one-core-1", "pipeline"):
        subprocess.run(["rm", "-rf", str(folder / name)], check=True)


def blocks(options, folder):
    write_text(folder / "text.txt")
    for micro_batches in options.micro_batches:
        ideal = 2 * micro_batches / (micro_batches + 1)
        shares, times, peaks = ({mode: [] for mode in MODES} for _ in range(3))
        single = []
        for round in range(options.rounds):
            clear(folder)
            single.append(one_core(options, folder, micro_batches))
            for mode in list(MODES)[:: -1 if round % 2 else 1]:
                clear(folder)
                seconds, peak = pipeline(options, folder, mode, micro_batches)
                shares[mode].append(single[-1] / seconds / ideal)
                times[mode].append(seconds)
                peaks[mode].append(peak)
        print(f"M = {micro_batches}: one core {statistics.median(single):.3f} s a step, ideal {ideal:.3f} times as fast")
        for mode in MODES:
            print(f"  {mode:<15} {statistics.median(times[mode]):7.3f} s  {100 * statistics.median(shares[mode]):5.1f} % of ideal "
                  f"({100 * min(shares[mode]):.1f} to {100 * max(shares[mode]):.1f})  peak {max(peaks[mode]) / 2**20:.0f} MiB",
                  flush=True)


# --- MobileNetV2 beside torch.distributed.pipelining -----------------------------------------------------------------


def torch_rank(rank, cut, steps, port):
    """One of two processes; rank 1 prints the median of the steps' seconds but the first."""
    import time

    import torch
    import torch.distributed as dist
    import torchvision
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    model = torchvision.models.mobilenet_v2(num_classes=10)
    head = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), model.classifier)
    layers = [*model.features, head]
    part = torch.nn.Sequential(*(layers[:cut] if rank == 0 else layers[cut:]))
    stage = PipelineStage(part, rank, 2, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=torch.nn.functional.cross_entropy)
    optimizer = torch.optim.SGD(part.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,))
    seconds = []
    for _ in range(steps):
        dist.barrier()
        begin = time.perf_counter()
        optimizer.zero_grad()
        schedule.step(images) if rank == 0 else schedule.step(target=labels)
        optimizer.step()
        dist.barrier()
        seconds.append(time.perf_counter() - begin)
    if rank == 1:
        print(json.dumps(statistics.median(seconds[1:])))
    dist.destroy_process_group()


def torch_pipeline(cut, steps):
    env = compare_pytorch.torch_environment(1, None)
    words = [sys.executable, os.path.abspath(__file__), "--torch-cut", str(cut), "--steps", str(steps), "--torch-rank"]
    ranks = [subprocess.Popen(words + [str(rank)], env=env, stdout=subprocess.PIPE, text=True) for rank in range(2)]
    outputs = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit("compare_pipeline: torch.distributed.pipelining failed")
    return json.loads(outputs[1])


def our_mobilenet(options, folder):
    words = [options.train, "--model", "mobilenet_v2", "--data", "fashion-mnist", "--data-dir", str(folder), "--image-size", "32",
             "--stages", "2", "--cut", str(options.cut),
             "--micro-batches", "4", "--batch-size", "64", "--threads", "2", "--max-steps", str(options.steps), "--eval-every",
             "100000", "--checkpoint-every", "100000", "--out", str(folder / "pipeline")]
    finish(start(words))
    return read(folder / "pipeline")[0]


def mobilenet(options, folder):
    ratios = []
    for _ in range(options.rounds):
        clear(folder)
        write_images(folder)
        ours, theirs = our_mobilenet(options, folder), torch_pipeline(options.cut, options.steps)
        ratios.append(theirs / ours)
        print(f"  ours {1e3 * ours:.1f} ms  torch {1e3 * theirs:.1f} ms  ratio {ratios[-1]:.2f}", flush=True)
    print(f"MobileNetV2, GPipe, 2 ranks, M = 4: {statistics.median(ratios):.2f} times as fast as torch.distributed.pipelining")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["blocks", "mobilenet"], default="blocks")
    parser.add_argument("--train", help="our program; built by ./bazelw where not given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--micro-batches", type=int, nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--cut", type=int, default=7, help="of mobilenet: the first layer of the second stage")
    parser.add_argument("--steps", type=int, default=30, help="of mobilenet, in a run")
    parser.add_argument("--torch-rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--torch-cut", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch_rank is not None:
        return torch_rank(options.torch_rank, options.torch_cut, options.steps, 29511)
    if not options.train:
        subprocess.run([str(ROOT / "bazelw"), "build", "//tools:train"], check=True, cwd=ROOT)
        options.train = str(ROOT / "bazel-bin/tools/train/train")
    with tempfile.TemporaryDirectory() as folder:
        (blocks if options.what == "blocks" else mobilenet)(options, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
