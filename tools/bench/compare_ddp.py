#!/usr/bin/env python3
"""How much of the all-reduce of two replicas its overlap with the backward hides, beside torch's DistributedDataParallel over
gloo: python tools/bench/compare_ddp.py [--help]

Two replicas of one thread each. Three runs of each side in turn: without any exchange (ours: --strategy none; torch: no_sync),
with one bucket that holds all gradients and so is whole only at the backward's end, and with buckets of 25 MB. The exposed
share is what the last one adds to a step, over what the one before adds. A run's time is the median of its steps but the
first; the figure is the median of the rounds'.

RoBERTa-base, 4 rows of 128 tokens a replica; VGG13 at 32 x 32, 32 rows a replica. Needs what compare_pytorch.py needs, and
two cores that nothing else uses.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import compare_pipeline
import compare_pytorch

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = {"roberta": 4, "vgg13": 32}  # of a replica
STEPS = {"roberta": 5, "vgg13": 8}
WHOLE = 100_000  # MB: all gradients in one bucket


def write_text(folder):
    """Pairs of sentences that fill 128 tokens; few to be tested at a run's end."""
    for name, rows in (("train", 200), ("dev", 8), ("test", 8)):
        pairs = [f"{i}\t{'a word ' * 40}\t{'of two ' * 40}\t{('entailment', 'not_entailment')[i % 2]}" for i in range(rows)]
        (folder / f"{name}.tsv").write_text("\n".join(["index\tsentence1\tsentence2\tlabel", *pairs]) + "\n")


def ours(options, folder, model, mode):
    data = ["--data-dir", str(folder)]
    if model == "roberta":
        data += ["--data", "rte", "--vocab-dir", options.vocab]
    else:
        data += ["--data", "fashion-mnist", "--image-size", "32"]
    flags = {"none": ["--strategy", "none"], "whole": ["--bucket-mb", str(WHOLE)],
             "buckets": ["--bucket-mb", str(options.bucket_mb)]}
    out = folder / "run"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    words = [options.train, "--model", model, *data, "--replicas", "2", "--micro-batches", "1",
             "--batch-size", str(2 * ROWS[model]), "--threads", "2", "--max-steps", str(STEPS[model]),
             "--checkpoint-every", "100000", "--eval-every", "100000", "--out", str(out), *flags[mode]]
    for link in options.link:
        words += ["--link", link]
    compare_pipeline.finish(compare_pipeline.start(words))
    return compare_pipeline.read(out)[0]


def torch_rank(rank, model, mode, bucket_mb, port):
    """One of two processes; rank 0 prints the median of the steps' seconds but the first."""
    import contextlib
    import time

    import torch
    import torch.distributed as dist
    import torchvision
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    rows = ROWS[model]
    if model == "roberta":
        net = compare_pytorch.build_model("roberta")
        inputs, labels = torch.randint(3, 50000, (rows, 128)), torch.randint(0, 2, (rows,))
    else:
        net = torchvision.models.vgg13(num_classes=10)
        inputs, labels = torch.randn(rows, 3, 32, 32), torch.randint(0, 10, (rows,))
    ddp = DistributedDataParallel(net, bucket_cap_mb=WHOLE if mode == "whole" else bucket_mb)
    if model == "roberta":
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=True)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, fused=True)
    seconds = []
    for _ in range(STEPS[model]):
        dist.barrier()
        begin = time.perf_counter()
        optimizer.zero_grad()
        with ddp.no_sync() if mode == "none" else contextlib.nullcontext():
            out = ddp(inputs)
            torch.nn.functional.cross_entropy(out.logits if model == "roberta" else out, labels).backward()
        optimizer.step()
        dist.barrier()
        seconds.append(time.perf_counter() - begin)
    if rank == 0:
        print(json.dumps(statistics.median(seconds[1:])))
    dist.destroy_process_group()


def theirs(options, model, mode):
    env = compare_pytorch.torch_environment(1, None)
    words = [sys.executable, os.path.abspath(__file__), "--torch", model, mode, "--bucket-mb", str(options.bucket_mb),
             "--torch-rank"]
    ranks = [subprocess.Popen(words + [str(rank)], env=env, stdout=subprocess.PIPE, text=True) for rank in range(2)]
    outputs = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit("compare_ddp: torch's DistributedDataParallel failed")
    return json.loads(outputs[0].splitlines()[-1])


def compare(options, folder, model):
    sides = {"ours": lambda mode: ours(options, folder, model, mode)}
    if not options.link:
        sides["torch"] = lambda mode: theirs(options, model, mode)
    rounds = {side: [] for side in sides}
    for _ in range(options.rounds):
        for side, run in sides.items():
            rounds[side].append([run(mode) for mode in ("none", "whole", "buckets")])
    for side, times in rounds.items():
        none, whole, buckets = (statistics.median(t) for t in zip(*times))
        exposed = statistics.median((b - n) / (w - n) for n, w, b in times)
        print(f"{model:<8} {side:<6} no exchange {none:.3f} s  one bucket +{1e3 * (whole - none):.0f} ms  "
              f"{options.bucket_mb} MB +{1e3 * (buckets - none):.0f} ms  exposed {100 * exposed:.0f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--train", help="our program; built by ./bazelw where not given")
    parser.add_argument("--vocab", default="vocab", help="folder of RoBERTa's vocabulary")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bucket-mb", type=int, default=25)
    parser.add_argument("--link", nargs="*", default=[], help="of ours, which then runs alone")
    parser.add_argument("--torch", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--torch-rank", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch:
        return torch_rank(options.torch_rank, *options.torch, options.bucket_mb, 29513)
    if not options.train:
        subprocess.run([str(ROOT / "bazelw"), "build", "//tools:train"], check=True, cwd=ROOT)
        options.train = str(ROOT / "bazel-bin/tools/train/train")
    with tempfile.TemporaryDirectory() as folder:
        write_text(pathlib.Path(folder))
        compare_pipeline.write_images(pathlib.Path(folder))
        for model in options.models:
            compare(options, pathlib.Path(folder), model)
    return 0


if __name__ == "__main__":
    sys.exit(main())
