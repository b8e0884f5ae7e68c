#!/usr/bin/env python3
"""PyTorch's figures beside those of cuda_bench, on a GPU: python tools/bench/pytorch_cuda.py [--ours cuda_bench] [--help]

Prints a line for each figure of cuda_bench, by the same name, with the mode of PyTorch behind it; with --ours, cuda_bench runs
before and after, so that what else the machine does shows. A figure is the median of --rounds, each of which ends when the GPU
has done all of it; a first part, in which kernels are chosen and compiled, does not count.

Modes of a step: eager (images also with channels_last), compile (torch.compile), graphs (torch.compile with CUDA graphs).
Precisions: f32, tf32 (allow_tf32 for products and convolutions), bf16 (torch.autocast). A step is forward, cross entropy,
backward and PyTorch's fused optimizer, as compare_pytorch.py has it, which must lie beside this file; its batch lies on the GPU.
Those of cuda_bench are its trainer's: they also copy each batch to the GPU and ask whether the gradients are finite.

The codec's line is sort quantization as PyTorch's own ops make it: torch.sort, then two buckets of equal counts for each of
2^S intervals, and 2^Q steps within each. Its payload holds one code a byte.

--device cpu tries the script itself on a machine without a GPU.
"""
import argparse
import statistics
import subprocess
import time

import torch

from compare_pytorch import TEXT, build_model, make_optimizer, random_batch

STEPS = ["mobilenet_v2:16x224", "mobilenet_v2:256x224", "resnet18:128x32", "vgg13:64x32", "roberta:8x128", "gpt2:4x256"]


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def median(device, rounds, run):
    for _ in range(3):
        run()
    wait(device)
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        wait(device)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def show(what, seconds, rate):
    print(f"{what:<56} {1e3 * seconds:>12.4f} ms  {rate}", flush=True)


def use(precision):
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"


def product(o, precision):
    use(precision)
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = (torch.randn(o.product, o.product, device=o.device).to(dtype) for _ in range(2))
    seconds = median(o.device, o.rounds, lambda: torch.mm(a, b))
    show(f"product {o.product} cubed, {precision}", seconds, f"{2e-12 * o.product**3 / seconds:.1f} TFLOP/s")


def mlp(o, precision):
    """GPT-2's MLP, forward and backward, as transformers has it."""
    use(precision)
    layers = torch.nn.Sequential(torch.nn.Linear(768, 3072), torch.nn.GELU(approximate="tanh"), torch.nn.Linear(3072, 768))
    layers = layers.to(o.device)
    x, dy = (torch.randn(o.tokens, 768, device=o.device) for _ in range(2))
    x.requires_grad_()
    for mode, forward in (("eager", layers), ("compile", torch.compile(layers))):
        def run():
            layers.zero_grad(set_to_none=True)
            x.grad = None
            with torch.autocast(o.device, dtype=torch.bfloat16, enabled=precision == "bf16"):
                y = forward(x)
            y.backward(dy.to(y.dtype))

        seconds = median(o.device, o.rounds, run)
        rate = 12e-12 * o.tokens * 768 * 3072 / seconds
        show(f"MLP {o.tokens} x 768, {precision}, {mode}", seconds, f"{rate:.1f} TFLOP/s")


def copy(o):
    source = torch.randn(o.values, device=o.device)
    target = torch.empty_like(source)
    seconds = median(o.device, o.rounds, lambda: target.copy_(source))
    show("copy within the GPU", seconds, f"{8e-9 * o.values / seconds:.0f} GB/s, both ways counted")


def encode_sorted(values, bits):
    """Codes of `bits` bits: one of 2^(bits / 2) buckets of equal counts, and a step between its ends."""
    buckets = 2 ** (bits // 2)
    order = torch.sort(values)
    ends = order.values[: values.numel() // buckets * buckets].view(buckets, -1)
    low, high = ends[:, 0], ends[:, -1]
    bucket = torch.bucketize(values, low[1:].contiguous(), right=True)
    steps = 2 ** (bits - bits // 2) - 1
    width = torch.clamp(high - low, min=1e-30)
    code = torch.clamp(torch.round((values - low[bucket]) / width[bucket] * steps), 0, steps)
    return (bucket * (steps + 1) + code.long()).to(torch.uint8), low, high


def decode_sorted(codes, low, high, bits):
    steps = 2 ** (bits - bits // 2) - 1
    bucket = torch.div(codes.long(), steps + 1, rounding_mode="floor")
    return low[bucket] + (codes.long() % (steps + 1)) * ((high - low) / steps)[bucket]


def codec(o, bits, relu):
    values = torch.randn(o.values, device=o.device)
    values = torch.relu(values) if relu else values
    of = f"sortq:{bits} of {'positive halves' if relu else 'normal values'}"
    gigabytes = 4e-9 * o.values
    seconds = median(o.device, o.rounds, lambda: encode_sorted(values, bits))
    show("encode " + of, seconds, f"{gigabytes / seconds:.1f} GB/s of f32")
    codes, low, high = encode_sorted(values, bits)
    seconds = median(o.device, o.rounds, lambda: decode_sorted(codes, low, high, bits))
    show("decode " + of, seconds, f"{gigabytes / seconds:.1f} GB/s of f32")


def make_step(o, name, batch, size, precision, mode):
    torch.manual_seed(0)
    model = build_model(name).to(o.device).train()
    data = random_batch(name, size, batch)
    labels = data["bench.labels"].flatten().to(o.device)
    inputs = data["bench.tokens" if name in TEXT else "bench.images"].to(o.device)
    if name not in TEXT:
        model, inputs = (value.to(memory_format=torch.channels_last) for value in (model, inputs))
    optimizer = make_optimizer(name, model)
    forward = {"eager": lambda: model, "compile": lambda: torch.compile(model),
               "graphs": lambda: torch.compile(model, mode="reduce-overhead")}[mode]()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(o.device, dtype=torch.bfloat16, enabled=precision == "bf16"):
            output = forward(inputs)
            logits = output.logits if name in TEXT else output
            loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels)
        loss.backward()
        optimizer.step()

    return step


def training_step(o, text, precision, mode):
    use(precision)
    name, _, sizes = text.partition(":")
    batch, size = (int(number) for number in sizes.split("x"))
    step = make_step(o, name, batch, size, precision, mode)
    seconds = median(o.device, o.rounds, step)
    peak = f", {1e-9 * torch.cuda.max_memory_allocated():.2f} GB" if o.device == "cuda" else ""
    show(f"step {text}, {precision}, {mode}", seconds, f"{batch / seconds:.1f} samples/s{peak}")
    if o.device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    torch._dynamo.reset()


def run_ours(o):
    if not o.ours:
        return
    print("cuda_bench:", flush=True)
    subprocess.run([o.ours, "--rounds", str(o.rounds), "--product", str(o.product), "--tokens", str(o.tokens),
                    "--values", str(o.values),
                    *(word for p in o.precision for word in ("--precision", p)),
                    *(word for s in o.step for word in ("--step", s))], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", help="the program cuda_bench")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--precision", nargs="+", default=["f32", "tf32", "bf16"], choices=["f32", "tf32", "bf16"])
    parser.add_argument("--modes", nargs="+", default=["eager", "compile", "graphs"])
    parser.add_argument("--step", nargs="*", default=STEPS, help="MODEL:BATCHxSIZE")
    parser.add_argument("--product", type=int, default=8192)
    parser.add_argument("--tokens", type=int, default=8192, help="of GPT-2's MLP")
    parser.add_argument("--values", type=int, default=1 << 26)
    o = parser.parse_args()
    run_ours(o)
    print(f"PyTorch {torch.__version__}:", flush=True)
    for precision in o.precision:
        product(o, precision)
    for precision in o.precision:
        mlp(o, precision)
    copy(o)
    for bits in (8, 4):
        for relu in (False, True):
            codec(o, bits, relu)
    for precision in o.precision:
        for text in o.step:
            for mode in o.modes:
                training_step(o, text, precision, mode)
    run_ours(o)


if __name__ == "__main__":
    main()
