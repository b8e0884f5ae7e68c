#!/usr/bin/env python3
"""All-reduce, ours and PyTorch's gloo in turn: python tools/bench/compare_collectives.py [--help]

Ours is `bench --collectives` over threads; gloo's is torch.distributed.all_reduce among as many processes on one host. Both
sum float32, one thread a rank, in place; a time is a block of calls back to back between two barriers, divided by the calls.
The sides take turns, so that whatever else the machine does meets both; the figures are medians over the rounds. With --mpirun
ours between MPI processes (`mpi_bench --collectives`) has its turn too, and so has OpenMPI's MPI_Allreduce, through a small program
of C that mpicc builds.

Needs PyTorch as compare_pytorch.py does (its --help says what to install).
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from compare_pytorch import find_bench, torch_environment  # noqa: E402

MPI_PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* Argument 1: bytes, 2: calls. Prints seconds a call. */
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = (int)(atol(argv[1]) / 4), calls = atoi(argv[2]);
  float* data = malloc(4 * (size_t)count);
  for (int i = 0; i < count; ++i) data[i] = 0;
  double begin = 0;
  for (int round = 0; round < 2; ++round) { /* the first warms up */
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%.9f\n", (MPI_Wtime() - begin) / calls);
  free(data);
  return MPI_Finalize();
}
"""


def calls_of(size):
    """As collectives_table.cc."""
    return max(1, min(200, 40_000_000 // size))


def gloo_worker(rank, ranks, size, store):
    """Answers each line of stdin with the seconds of a call."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    data = torch.zeros(size // 4)
    for _ in sys.stdin:
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(calls_of(size)):
            dist.all_reduce(data)
        dist.barrier()
        print((time.perf_counter() - begin) / calls_of(size), flush=True)


class Gloo:
    def __init__(self, ranks, size, folder):
        store = str(folder / f"gloo_{ranks}_{size}")
        env = dict(torch_environment(1, None), GLOO_SOCKET_IFNAME="lo")
        self.workers = [subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", str(rank), str(ranks), str(size),
                                          store], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                        for rank in range(ranks)]
        self.run()  # warms up

    def run(self):
        for worker in self.workers:
            worker.stdin.write("\n")
            worker.stdin.flush()
        lines = [worker.stdout.readline() for worker in self.workers]
        if not all(lines):
            sys.exit("compare_collectives: a gloo worker ended early")
        return float(lines[0])

    def close(self):
        for worker in self.workers:
            worker.stdin.close()
        for worker in self.workers:
            worker.wait()


def our_flags(size, algorithm):
    return ["--collectives", "--bytes", str(size), "--rounds", "1", "--case", f"all-reduce {algorithm}"]


def seconds_of_table(out):
    """Of a table's one row."""
    return 1e-6 * float(out.strip().splitlines()[-1].split("|")[4])


def run_ours(bench, ranks, size, algorithm):
    command = [bench, *our_flags(size, algorithm), "--ranks", str(ranks)]
    return seconds_of_table(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)


def run_ours_over_mpi(mpi_bench, options, ranks, size, algorithm):
    return seconds_of_table(under_mpirun(options, ranks, [mpi_bench, *our_flags(size, algorithm)]))


def under_mpirun(options, ranks, command):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = ["mpirun", *options.mpirun.split(), "-n", str(ranks), *command]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=env).stdout


def run_mpi(program, options, ranks, size):
    return float(under_mpirun(options, ranks, [program, str(size), str(calls_of(size))]))


def compare(case, options, bench, mpi, folder):
    ranks, size = case
    gloo = Gloo(ranks, size, folder)
    sides = {f"ours, {name}": lambda name=name: run_ours(bench, ranks, size, name) for name in options.algorithms}
    sides["gloo"] = gloo.run
    if mpi:
        for name in options.algorithms:
            sides[f"ours over MPI, {name}"] = lambda name=name: run_ours_over_mpi(options.mpi_bench, options, ranks, size, name)
        sides["MPI_Allreduce"] = lambda: run_mpi(mpi, options, ranks, size)
    seconds = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, run in sides.items():
            seconds[name].append(run())
    gloo.close()
    for name, all_seconds in seconds.items():
        print(f"| {ranks} | {size} | {name} | {1e6 * statistics.median(all_seconds):.0f} | {1e6 * min(all_seconds):.0f} |",
              flush=True)


def build_mpi(folder):
    if not shutil.which("mpicc"):
        sys.exit("compare_collectives: --mpirun needs mpicc (libopenmpi-dev)")
    source, program = folder / "all_reduce.c", folder / "all_reduce"
    source.write_text(MPI_PROGRAM)
    subprocess.run(["mpicc", "-O2", "-o", str(program), str(source)], check=True)
    return str(program)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="4:100000000,2:1000000,4:1000000,8:1000000", help="RANKS:BYTES, comma-separated")
    parser.add_argument("--algorithms", default="direct", help="of ours, comma-separated (default direct)")
    parser.add_argument("--rounds", type=int, default=11, help="turns of each side (default 11)")
    parser.add_argument("--bench", help="our program; built by ./bazelw where not given")
    parser.add_argument("--mpirun", help="mpirun's own flags, such as '--oversubscribe --bind-to none'; times processes too")
    parser.add_argument("--mpi-bench", help="our program of MPI; built by ./bazelw where not given")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.cases = [tuple(map(int, case.split(":"))) for case in options.cases.split(",")]
    options.algorithms = options.algorithms.split(",")
    return options


def main():
    options = parse()
    if options.worker:
        rank, ranks, size, store = options.worker
        return gloo_worker(int(rank), int(ranks), int(size), store)
    bench = find_bench(options.bench)
    if options.mpirun is not None:
        options.mpi_bench = find_bench(options.mpi_bench, "mpi_bench")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        mpi = build_mpi(folder) if options.mpirun is not None else None
        print("| ranks | bytes | all-reduce | median, us | least, us |\n|---|---|---|---|---|")
        for case in options.cases:
            compare(case, options, bench, mpi, folder)


if __name__ == "__main__":
    main()
