#!/usr/bin/env python3
"""A real small pipeline beside its simulation: python tools/simulate/real_run.py [--help]

Three stages of GPT-2's blocks train over three emulated networks, whose latencies and bandwidths stand to the time of a stage as
those of the published GPT-3 XL run do (docs/simulator.md). Forwards and backwards of each stage, and the optimizer, are the
medians of the runs over the first network. `simulate --fit` brings them to the seconds of a step there by one factor, since
stages that share the cores are not as fast alone as together, and predicts the other networks. The networks take turns, and a figure is the
median over all steps but each run's first two. Build first: ./bazelw build //tools:train //tools:simulate
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = [(0.1e-3, 10e9), (1e-3, 5e9), (5e-3, 2e9)]  # latency in seconds, bits a second
STAGE_SECONDS = 0.198  # of GPT-3 XL's: forward and backward of a micro-batch, as fitted
BOUNDARY_BYTES = 2048 * 2048 * 4


def train(args, link, out):
    """Returns the seconds of each steady step, and the run's summary."""
    subprocess.run([args.train, "--model", args.model, "--data", "text", "--data-dir", args.text, "--tokenizer", "bytes",
                    "--length", str(args.length), "--batch-size", str(args.micro_batches), "--micro-batches",
                    str(args.micro_batches), "--stages", str(args.stages), "--threads", str(args.stages), "--max-steps",
                    str(args.steps + 2), "--eval-every", "1000000", "--out", out] + (["--link", link] if link else []),
                   check=True, stdout=subprocess.DEVNULL)
    lines = [json.loads(line) for line in open(f"{out}/metrics.jsonl")]
    seconds = [line["seconds"] for line in lines if line["kind"] == "train"]
    return seconds[2:], json.load(open(f"{out}/summary.json"))


def stage_times(out):
    """Seconds of a forward and of a backward of each rank: the medians of the steps behind the first two."""
    times = {}
    for event in json.load(open(f"{out}/trace.json"))["traceEvents"]:
        if event.get("cat") in ("forward", "backward") and event["args"]["step"] >= 2:
            times.setdefault((event["cat"], event["tid"]), []).append(1e-6 * event["dur"])
    ranks = 1 + max(rank for _, rank in times)
    return [[statistics.median(times[kind, rank]) for rank in range(ranks)] for kind in ("forward", "backward")]


def simulate(args, pipeline, measured):
    """What `simulate` says of the rows: it fits the first, and predicts all."""
    rows = [{"links": link, "seconds": statistics.median(seconds)} for link, seconds in measured.items()]
    rows[0]["fit"] = True
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"pipeline": pipeline, "free": [["forward", "backward"]], "rows": rows}, file)
        file.flush()
        return subprocess.run([args.simulate, "--fit", file.name], check=True, capture_output=True, text=True).stdout


def scaled_links(stage_seconds, boundary_bytes):
    """The published networks, such that latency and bytes take the same share of a stage's time."""
    share = stage_seconds / STAGE_SECONDS
    rates = [bits * boundary_bytes / BOUNDARY_BYTES / share for _, bits in PUBLISHED]
    return [f"{1e6 * latency * share:.3f}us,{1e-6 * rate:.3f}Mbps" for (latency, _), rate in zip(PUBLISHED, rates)]


def pipeline_of(args, out, summary):
    """What the simulator takes, but for the links."""
    forward, backward = stage_times(out)
    steps = summary["steps_here"]
    sent = next(link["sent_bytes"] for link in summary["links"] if link["what"] == "activations")
    ranks = [rank["seconds"] for rank in summary["ranks"]]
    return {"ranks": args.stages, "micro-batches": args.micro_batches, "forward": forward, "backward": backward,
            "step": [(rank["optimizer"] + rank["data_wait"]) / steps for rank in ranks],
            "boundary": sent / steps / args.micro_batches}


def averaged(pipelines):
    """The median of each figure over several runs."""
    middle = dict(pipelines[0])
    for key in ("forward", "backward", "step"):
        middle[key] = [statistics.median(values) for values in zip(*(pipeline[key] for pipeline in pipelines))]
    return middle


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", help="a text file to train on, of some 20 KB")
    parser.add_argument("--train", default=ROOT / "bazel-bin/tools/train/train")
    parser.add_argument("--simulate", default=ROOT / "bazel-bin/tools/simulate/simulate")
    parser.add_argument("--model", default="gpt2:3", help="as train takes it")
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--micro-batches", type=int, default=16)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = pipeline_of(args, f"{folder}/first", train(args, "", f"{folder}/first")[1])
        stage = statistics.mean(map(sum, zip(first["forward"], first["backward"])))
        links = scaled_links(stage, first["boundary"])
        measured, pipelines = {link: [] for link in links}, []
        for turn in range(args.rounds):
            for i, link in enumerate(links):
                out = f"{folder}/{turn}-{i}"
                seconds, summary = train(args, link, out)
                measured[link] += seconds
                if i == 0:
                    pipelines.append(pipeline_of(args, out, summary))
    pipeline = averaged(pipelines)
    print("of the first network: " + ", ".join(f"{key} {' '.join(f'{1e3 * x:.1f}' for x in pipeline[key])} ms"
                                               for key in ("forward", "backward", "step")))
    print(simulate(args, pipeline, measured), end="")


if __name__ == "__main__":
    main()
