#!/usr/bin/env python3
"""The same programs for Torus and for libtorch, PyTorch's C++ library: python tools/bench/compare_libtorch.py --help

Three pairs in tools/bench/libtorch: a small network that learns y = sin x, a ResNet-18 that is fine-tuned on a folder of images (64 x 64,
batches of 8) and evaluated, and a GPT-2 of 124M parameters that continues 16 tokens by 64, with its keys and values kept. Of each pair:

  lines       of the program's source, but for blank ones, comments, and includes of what counts on neither side
  build       seconds of the processor and peak memory of one g++ -O2 that compiles and links the program
  binary      bytes of the program, stripped
  libraries   bytes of the framework's own shared libraries that it loads, and of all but the C and C++ runtime
  start-up    the program with --nothing, which makes one tensor and ends: seconds of the processor, and until it has ended
  step        the median of the program's steps (batches, tokens) on two threads, by the wall clock

Figures are medians of --rounds rounds, the two sides in turn; a ratio is libtorch's figure divided by ours, so that above 1 ours is ahead.
A row in which ours is behind is printed with its cause. Definitions of models count on neither side: Torus has them, and those for
libtorch (torch_models.cc) are compiled apart, into a library that no row counts. tools/bench/libtorch/program.h, the clock, is both sides'.
Weights are random, and each side's own; both sides run on the first two of the CPUs that the process may use.

Beside libtorch stand libtorch_cpu and libc10 alone. Where the package is one for CUDA, its libtorch_cpu asks for CUDA's runtime and
profiler, which a CPU does not need; stubs are put in their place, so that loading them is not counted against it.

  --torus PREFIX   an installed Torus: ./bazelw run //tools:install -- --prefix PREFIX
  --torch DIR      the folder "torch" of the package: pip install --no-deps torch==2.15.0
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tools/bench/libtorch"
PROGRAMS = {"mlp": ("MLP", "torus"), "fine_tune": ("ResNet-18, fine-tuned", "torus_recipes"), "generate": ("GPT-2, generating", "torus")}
SIDES = ("torus", "torch")
RUNTIME = re.compile(r"(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so)")
ROWS = {  # name, unit, divisor, digits
    "lines": ("lines of the program", "", 1, 0),
    "build": ("build", "s", 1, 2),
    "memory": ("build, peak memory", "MB", 1e6, 0),
    "binary": ("program, stripped", "kB", 1e3, 0),
    "own": ("its own libraries", "MB", 1e6, 1),
    "all": ("all libraries but the C and C++ runtime", "MB", 1e6, 1),
    "start": ("start-up, processor", "ms", 1e-3, 1),
    "start_wall": ("start-up, wall clock", "ms", 1e-3, 1),
    "step": ("step", "ms", 1e-3, 3),
}
# Why ours is behind, where it is.
CAUSES = {
    ("mlp", "lines"): "a line initializes the weights by a seed and one says using namespace torus",
    ("generate", "step"): "a token reads 498 MB of weights, which takes both sides about the same time",
}


def run(command, environment=None):
    """Seconds by the wall clock, seconds of the processor and peak bytes of a process and of those that it waits for."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"compare_libtorch: {' '.join(map(str, command))} ended with {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def output(command, environment=None):
    return subprocess.run([str(word) for word in command], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def write_stubs(torch, folder):
    """Libraries in the place of CUDA's that libtorch_cpu asks for: every function fails."""
    library = torch / "lib/libtorch_cpu.so"
    functions = {}
    for name, version in re.findall(r" U (\w+)@(lib(?:cudart|cupti)\.so\.\d+)", output(["nm", "-D", "--undefined-only", library])):
        functions.setdefault(version, []).append(name)
    for version, names in functions.items():
        source, script = folder / "stub.c", folder / "stub.map"
        source.write_text("".join(f"int {name}(void) {{ return 100; }}\n" for name in names))
        script.write_text(f"{version} {{ *; }};\n")
        run(["gcc", "-w", "-shared", "-fPIC", f"-Wl,-soname,{version},--version-script,{script}", source, "-o", folder / version])


def write_images(folder):
    """Ten classes of binary PPMs, whose brightness is their class."""
    numbers = random.Random(1)
    for part, count in (("train", 16), ("test", 4)):
        for label in range(10):
            place = folder / "images" / part / f"class{label}"
            place.mkdir(parents=True)
            for i in range(count):
                pixels = bytes(20 * label + byte % 64 for byte in numbers.randbytes(64 * 64 * 3))
                (place / f"{i}.ppm").write_bytes(b"P6\n64 64\n255\n" + pixels)


def count_lines(source):
    lines = [line.strip() for line in source.read_text().splitlines()]
    return sum(bool(line) and not line.startswith(("//", '#include "tools/bench/libtorch/')) for line in lines)


class Comparison:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
        stubs = folder / "stubs"
        stubs.mkdir()
        write_stubs(options.torch, stubs)
        self.torch_environment = dict(self.environment, LD_LIBRARY_PATH=str(stubs))
        include, lib = options.torch / "include", options.torch / "lib"
        self.torch_compile = ["-std=c++20", f"-I{include}", f"-I{include}/torch/csrc/api/include"]
        self.torch_link = [f"-L{lib}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{lib}", f"-Wl,-rpath-link,{stubs}"]
        self.figures = {}

    def flags(self, side, program):
        if side == "torch":
            models = [] if program == "mlp" else [f"-L{self.folder}", "-ltorch_models", f"-Wl,-rpath,{self.folder}"]
            return self.torch_compile + models + self.torch_link
        search = dict(os.environ, PKG_CONFIG_PATH=str(self.options.torus / "lib/pkgconfig"))
        package = PROGRAMS.get(program, ("", "torus"))[1]
        return output(["pkg-config", "--cflags", "--libs", package], search).split() + [f"-Wl,-rpath,{self.options.torus}/lib"]

    def build(self, side, program):
        source = SOURCES / f"{side}_{program}.cc"
        return run(["g++", "-O2", "-iquote", ROOT, source] + self.flags(side, program) + ["-o", self.folder / f"{side}_{program}"])

    def build_models(self):
        source = SOURCES / "torch_models.cc"
        run(["g++", "-O2", "-shared", "-fPIC", "-iquote", ROOT] + self.torch_compile + [source] + self.torch_link +
            ["-o", self.folder / "libtorch_models.so"])

    def environment_of(self, side):
        return self.torch_environment if side == "torch" else self.environment

    def note(self, side, program, row, figure):
        self.figures.setdefault((program, row), {}).setdefault(side, []).append(figure)
        print(f"{side} {program} {row}: {figure}", file=sys.stderr, flush=True)

    def note_builds(self, rounds):
        for _ in range(rounds):
            for program in self.options.programs:
                for side in SIDES:
                    _, seconds, peak = self.build(side, program)
                    self.note(side, program, "build", seconds)
                    self.note(side, program, "memory", peak)

    def note_sizes(self):
        for program in self.options.programs:
            for side in SIDES:
                self.note(side, program, "lines", count_lines(SOURCES / f"{side}_{program}.cc"))
                built, stripped = self.folder / f"{side}_{program}", self.folder / "stripped"
                run(["strip", built, "-o", stripped])
                self.note(side, program, "binary", stripped.stat().st_size)
                paths = [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", output(["ldd", built], self.environment_of(side)))]
                paths = [p for p in paths if not RUNTIME.match(p.name) and self.folder not in p.parents]
                own = [p for p in paths if p.name.startswith(("libtorus", "libtorch", "libc10"))]
                self.note(side, program, "own", sum(p.stat().st_size for p in own))
                self.note(side, program, "all", sum(p.stat().st_size for p in paths))

    def write_files(self):
        files = self.folder / "files"
        files.mkdir()
        if "fine_tune" not in self.options.programs:
            return
        write_images(files)
        for side in SIDES:
            self.build(side, "weights")
            run([self.folder / f"{side}_weights", files], self.environment_of(side))

    def note_starts(self):
        for turn in range(self.options.rounds + 1):
            for program in self.options.programs:
                for side in SIDES:
                    wall, seconds, _ = run([self.folder / f"{side}_{program}", "--nothing"], self.environment_of(side))
                    if turn:  # the first one reads the libraries from the disk
                        self.note(side, program, "start", seconds)
                        self.note(side, program, "start_wall", wall)

    def note_steps(self):
        for turn in range(self.options.rounds):
            for program in self.options.programs:
                for side in SIDES:
                    place = self.folder / f"{side}_{program}_{turn}"
                    shutil.copytree(self.folder / "files", place)
                    printed = output([self.folder / f"{side}_{program}", place], self.environment_of(side))
                    shutil.rmtree(place)
                    self.note(side, program, "step", 1e-6 * float(re.search(r"median step ([\d.]+) us", printed)[1]))

    def note_all(self):
        if self.options.programs != ["mlp"]:
            self.build_models()
        self.note_builds(1)
        self.note_sizes()
        self.write_files()
        self.note_starts()
        self.note_steps()
        self.note_builds(self.options.rounds - 1)

    def table(self):
        lines = ["| program | | Torus | libtorch | ratio | median of |", "|---|---|---|---|---|---|"]
        behind = []
        for program, (title, _) in PROGRAMS.items():
            for row, (name, unit, divisor, digits) in ROWS.items():
                if len(self.figures.get((program, row), {})) < len(SIDES):
                    continue
                ours, theirs = (statistics.median(self.figures[program, row][side]) for side in SIDES)
                name = name + (f", {unit}" if unit else "")
                figures = len(self.figures[program, row][SIDES[0]])
                lines.append(f"| {title} | {name} | {ours / divisor:.{digits}f} | {theirs / divisor:.{digits}f} | {theirs / ours:.2f} | {figures} |")
                if theirs < ours:
                    behind.append(f"behind: {title}, {name}: " + CAUSES.get((program, row), "the cause is not known"))
        return "\n".join(lines + [""] + behind)


def processor():
    found = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return found[1] if found else "an unknown processor"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torus", required=True, type=pathlib.Path, help="the prefix of an installed Torus")
    parser.add_argument("--torch", required=True, type=pathlib.Path, help='the folder "torch" of the package')
    parser.add_argument("--rounds", type=int, default=5, help="of which each figure is the median (default 5)")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="some of them, parted by commas (default all: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of each side (default 2)")
    parser.add_argument("--json", type=pathlib.Path, help="a file for every single figure")
    options = parser.parse_args()
    options.programs = options.programs.split(",")
    for program in options.programs:
        if program not in PROGRAMS:
            parser.error(f"--programs needs names of {', '.join(PROGRAMS)}, got {program!r}")
    options.torus, options.torch = options.torus.resolve(), options.torch.resolve()
    return options


def main():
    options = parse()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, pathlib.Path(folder))
        try:
            comparison.note_all()
        except KeyboardInterrupt:
            print("interrupted: medians of what there is", file=sys.stderr)
        if options.json:
            figures = {f"{program} {row}": sides for (program, row), sides in comparison.figures.items()}
            options.json.write_text(json.dumps(figures, indent=1) + "\n")
        print(f"{processor()}, {options.threads} threads\n\n{comparison.table()}")


if __name__ == "__main__":
    main()
