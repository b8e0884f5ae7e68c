#!/usr/bin/env python3
"""Training steps, ours and PyTorch's in turn: python tools/bench/compare_pytorch.py [--help]

Both sides start from the same weights and batch (exchanged as a .safetensors file), on the same number of threads; a step is
forward, cross entropy, backward and update: SGD with momentum for images, AdamW for text (PyTorch's fused ones). Dropout is
off: two frameworks draw different numbers. Each mode of PyTorch runs in a process of its own, in turn with ours, a few steps
at a time, so that whatever else the machine does meets both. The first losses must agree to 1e-4; the figures are medians
after warm-up.

Modes: eager; channels_last (images alone: model and batch in NHWC); compile (torch.compile, images with channels_last).
NAME+bf16: PyTorch under torch.autocast and ours with --precision bf16; ours in the other modes too with --ours bf16. Losses
in bf16 must agree to two roundings, 2^-8 of them.
Where the CPU is not Intel's, each also as NAME+mkl: MKL takes a slower path there unless a preloaded library answers its
vendor check.

Needs, besides g++ (for torch.compile) and this repository's own build:
    pip install --no-deps torch==2.15.0 torchvision==0.29.2
    pip install transformers==5.23.0 safetensors==0.8.0 pillow sympy networkx jinja2 fsspec filelock 'setuptools>=77.0.3'
    pip install --no-deps nvidia-cufile nvidia-cusparselt-cu13==0.8.1 nvidia-nvshmem-cu13 nvidia-nccl-cu13==2.30.7 \\
        nvidia-cudnn-cu13==9.26.0.51      # the default wheel wants them on a CPU too, and a CUDA 13 toolkit's lib64
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PINNED = {"torch": "2.15.0", "torchvision": "0.29.2", "transformers": "5.23.0", "safetensors": "0.8.0"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMS = ["eager", "channels_last", "compile"]
MODES = FORMS + [form + "+bf16" for form in FORMS]
# Sizes that each model is timed at: SIZExBATCH, where SIZE is the side of an image or the tokens of a text.
CASES = {"mobilenet_v2": ["224x16", "96x32", "32x64"], "vgg13": ["32x64", "224x4"], "resnet18": ["32x128"],
         "roberta": ["128x8"], "gpt2": ["256x4"]}
TEXT = ["roberta", "gpt2"]


def check_packages():
    for name, wanted in PINNED.items():
        try:
            got = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            got = "none"
        if got.split("+")[0] != wanted:
            sys.exit(f"compare_pytorch: needs {name} {wanted}, found {got}; --help says what to install")


# --- what runs with PyTorch, in processes of its own ---------------------------------------------------------------


def build_model(name):
    """As in step_model.cc: full size, no dropout."""
    if name not in TEXT:
        import torchvision

        return getattr(torchvision.models, name)(**({} if name == "resnet18" else {"dropout": 0.0}))
    import transformers

    if name == "gpt2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    return transformers.RobertaForSequenceClassification(transformers.RobertaConfig(
        vocab_size=50265, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5,
        hidden_dropout_prob=0, attention_probs_dropout_prob=0))


def random_batch(name, size, batch):
    import torch

    if name not in TEXT:
        return {"bench.images": torch.randn(batch, 3, size, size), "bench.labels": torch.randint(0, 1000, (batch,))}
    shape, classes = ((batch, size), 50257) if name == "gpt2" else ((batch,), 2)
    return {"bench.tokens": torch.randint(3, 50000, (batch, size)), "bench.labels": torch.randint(0, classes, shape)}


def write_exchange(path, name, size, batch):
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    model = build_model(name)
    tied = getattr(model, "all_tied_weights_keys", {}) or {}
    state = {key: value.contiguous() for key, value in model.state_dict().items() if key not in tied}
    save_file({**state, **random_batch(name, size, batch)}, path)


def make_optimizer(name, model):
    import torch

    if name in TEXT:
        return torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)


def make_step(path, name, mode):
    import torch
    from safetensors.torch import load_file

    tensors = load_file(path)
    labels = tensors.pop("bench.labels").flatten()
    inputs = tensors.pop("bench.tokens" if name in TEXT else "bench.images")
    model = build_model(name)
    missing, surplus = model.load_state_dict(tensors, strict=False)
    tied = getattr(model, "all_tied_weights_keys", {}) or {}
    assert not surplus and set(missing) <= set(tied), (missing, surplus)
    model.train()
    form, _, precision = mode.partition("+")
    if form != "eager" and name not in TEXT:
        model, inputs = (value.to(memory_format=torch.channels_last) for value in (model, inputs))
    optimizer = make_optimizer(name, model)
    forward = torch.compile(model) if form == "compile" else model

    def compute_loss():
        output = forward(inputs)
        logits = output.logits if name in TEXT else output
        return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = compute_loss()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def clock(threads):
    """As step_clock.h."""
    return time.process_time() if threads == 1 else time.perf_counter()


def gemm_gflops(threads, precision):
    """As gemm_peak.cc."""
    import torch

    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = torch.full((2048, 2048), 0.5, dtype=dtype), torch.full((2048, 2048), 0.25, dtype=dtype)
    c, seconds = torch.zeros(2048, 2048, dtype=dtype), []
    for _ in range(6):
        begin = clock(threads)
        torch.mm(a, b, out=c)
        seconds.append(clock(threads) - begin)
    return 2e-9 * 2048**3 / min(seconds[1:])


def worker(path, name, mode, threads):
    """Answers each number N on stdin with N steps: the same lines as `bench --step_json`."""
    import torch

    torch.set_num_threads(threads)
    step = make_step(path, name, mode)
    print(json.dumps({"mode": mode, "gemm_gflops": gemm_gflops(threads, mode.partition("+")[2])}), flush=True)
    for line in sys.stdin:
        losses, seconds, cpu_seconds = [], [], []
        for _ in range(int(line)):
            begin, cpu_begin = time.perf_counter(), time.process_time()
            losses.append(step())
            seconds.append(time.perf_counter() - begin)
            cpu_seconds.append(time.process_time() - cpu_begin)
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({"losses": losses, "seconds": seconds, "cpu_seconds": cpu_seconds, "peak_rss": peak}),
              flush=True)


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
    """First losses of both, medians of seconds after the warm-up, taken in turn, and peak bytes in memory."""
    sides = (ours, theirs)
    first = [server.run(max(1, options.warmup))["losses"][0] for server in sides]
    seconds, peaks = [[], []], [0, 0]
    for _ in range(options.rounds):
        for i, server in enumerate(sides):
            answer = server.run(options.steps)
            seconds[i] += answer["cpu_seconds" if options.cpu_time else "seconds"]
            peaks[i] = answer["peak_rss"]
    return first, [statistics.median(mine) for mine in seconds], peaks


def run_mode(case, exchange, mode, override, options, bench):
    name, size, _ = case
    label = mode + ("+mkl" if override else "")
    precision = "bf16" if mode.endswith("+bf16") else options.ours
    command = [bench, "--model", name, "--step_json", exchange, "--threads", str(options.threads),
               "--precision", precision]
    ours = Server("bench", command + (["--recompute"] if options.recompute else []),
                  dict(os.environ, OMP_NUM_THREADS=str(options.threads)))
    script = [sys.executable, os.path.abspath(__file__), "--worker", exchange, "--cases", f"{name}:1x1"]
    theirs = Server(label, script + ["--modes", mode, "--threads", str(options.threads)],
                    torch_environment(options.threads, override))
    first, medians, peaks = compare(ours, theirs, options)
    ours.close()
    theirs.close()
    if abs(first[0] - first[1]) > (2**-8 * abs(first[1]) if precision == "bf16" else 1e-4):
        sys.exit(f"compare_pytorch: first losses of {name} at {size} differ: {first[0]} and {first[1]} ({label})")
    print(f"  {label:<18} PyTorch {1e3 * medians[1]:8.1f} ms {peaks[1] / 1e9:5.2f} GB  ours {1e3 * medians[0]:8.1f} ms "
          f"{peaks[0] / 1e9:5.2f} GB  ratio {medians[1] / medians[0]:.2f}  first loss {first[1]:.6f} | {first[0]:.6f}  "
          f"GEMM {theirs.hello['gemm_gflops']:.0f} | {ours.hello['gemm_gflops']:.0f} GFLOP/s", flush=True)
    return (label, *medians, peaks), ours.hello


def run_case(case, options, bench, preload, folder):
    name, size, batch = case
    exchange = str(folder / f"{name}_{size}x{batch}.safetensors")
    write = [sys.executable, os.path.abspath(__file__), "--write", exchange, "--cases", f"{name}:{size}x{batch}"]
    subprocess.run(write, env=torch_environment(options.threads, None), check=True)
    modes = [mode for mode in options.modes if not mode.startswith("channels_last") or name not in TEXT]
    rows, hello = [], {}
    for mode in modes:
        for override in [None, preload] if preload else [None]:
            row, said = run_mode(case, exchange, mode, override, options, bench)
            rows.append(row)
            hello = {**said, "gemm_gflops": max(said["gemm_gflops"], hello.get("gemm_gflops", 0))}
    return rows, hello


def report(case, rows, hello):
    name, size, batch = case
    ours = statistics.median(row[1] for row in rows)
    best = min(rows, key=lambda row: row[2] / row[1])  # fastest beside the steps of ours that it ran in turn with
    share = hello["flops"] / ours / 1e9 / hello["gemm_gflops"]
    return (f"| {name}, {size} x {size if name not in TEXT else 'batch'}{', batch' if name not in TEXT else ''} {batch} "
            f"| {1e3 * ours:.0f} | {1e3 * best[2]:.0f} ({best[0]}) | {best[2] / best[1]:.2f} | "
            f"{100 * share:.0f} % of {hello['gemm_gflops']:.0f} GFLOP/s | "
            f"{max(row[3][0] for row in rows) / 1e9:.2f} | {best[3][1] / 1e9:.2f} |")


def find_bench(path, name="bench"):
    if path:
        return os.path.abspath(path)
    subprocess.run([str(ROOT / "bazelw"), "build", f"//tools/bench:{name}"], check=True, cwd=ROOT)
    return str(ROOT / "bazel-bin/tools/bench" / name)


def parse_case(parser, entry):
    name, _, size = entry.partition(":")
    if name not in CASES:
        parser.error(f"unknown model {name}: one of {', '.join(CASES)}")
    return [(name, *map(int, one.split("x"))) for one in ([size] if size else CASES[name])]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = ",".join(f"{name}:{size}" for name, sizes in CASES.items() for size in sizes)
    parser.add_argument("--cases", default=every, help=f"MODEL:SIZExBATCH or MODEL, comma-separated (default {every})")
    parser.add_argument("--modes", default=",".join(FORMS), help="of " + ", ".join(MODES))
    parser.add_argument("--ours", default="f32", choices=["f32", "bf16"], help="precision of our side in modes of f32")
    parser.add_argument("--threads", type=int, default=2, help="of each side (default 2)")
    parser.add_argument("--warmup", type=int, default=3, help="steps of each side before any is timed (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side (default 5)")
    parser.add_argument("--steps", type=int, default=3, help="steps a turn (default 3)")
    parser.add_argument("--recompute", action="store_true", help="our side keeps no activations within layers")
    parser.add_argument("--bench", help="our program; built by ./bazelw where not given")
    parser.add_argument("--no-mkl-override", action="store_true", help="PyTorch only as installed")
    parser.add_argument("--cpu-time", action="store_true", help="time by the processes' CPU time, where the machine "
                        "does other work; for one thread, since waiting threads spin")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cpu_time and options.threads != 1:
        parser.error("--cpu-time needs --threads 1")
    options.cases = [case for entry in options.cases.split(",") for case in parse_case(parser, entry)]
    options.modes = options.modes.split(",")
    unknown = set(options.modes) - set(MODES)
    if unknown:
        parser.error(f"unknown mode {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    check_packages()
    if options.write:
        return write_exchange(options.write, *options.cases[0])
    if options.worker:
        return worker(options.worker, options.cases[0][0], options.modes[0], options.threads)
    bench = find_bench(options.bench)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        intel = "GenuineIntel" in pathlib.Path("/proc/cpuinfo").read_text()
        preload = None if intel or options.no_mkl_override else build_mkl_override(folder)
        lines = []
        for case in options.cases:
            print(f"{case[0]}, size {case[1]}, batch {case[2]}, {options.threads} threads", flush=True)
            lines.append(report(case, *run_case(case, options, bench, preload, folder)))
    print("\n| training step | Torus, ms | PyTorch's best, ms | ratio | our share of the measured GEMM peak "
          "| our peak, GB | its peak, GB |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
