// What is measured between processes, as in mpirun -n 2 bazel-bin/tools/bench/mpi_bench:
//   no flag         one-way latency and bandwidth of two: ours, and plain MPI_Send and MPI_Recv, in
//                   turns
//   --collectives   between all processes, MPI_Allreduce ("all-reduce engine") among them;
//                   --case, --bytes and --rounds as of bench --collectives
//   --links         emulated links between two beside their model
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "parallel/transport/mpi/mpi_world.h"
#include "tools/bench/collectives_table.h"
#include "tools/common/check_flags.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/simulate/measure_link.h"

namespace torus::tools {
namespace {

using parallel::Pending;
using parallel::Transport;

constexpr int kTurns = 15;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// There and back. The next receive is posted before this one is waited for, as a pipeline's are.
void Ours(Transport& t, std::vector<char>& out, std::vector<char> (&in)[2], int rounds) {
  const int peer = 1 - t.rank();
  const auto receive = [&](int i) {
    return i < rounds ? t.Recv(peer, {}, {in[i % 2].data(), in[i % 2].size()}, "ping") : Pending();
  };
  Pending next = receive(0);
  for (int i = 0; i < rounds; ++i) {
    Pending now = std::move(next);
    next = receive(i + 1);
    if (t.rank() == 0) t.Send(peer, {}, {out.data(), out.size()}, "ping").Wait();
    now.Wait();
    if (t.rank() == 1) t.Send(peer, {}, {out.data(), out.size()}, "ping").Wait();
  }
}

void Plain(Transport& t, std::vector<char>& out, std::vector<char> (&in)[2], int rounds) {
  const int peer = 1 - t.rank(), bytes = static_cast<int>(out.size());
  const auto send = [&] { MPI_Send(out.data(), bytes, MPI_BYTE, peer, 9, MPI_COMM_WORLD); };
  for (int i = 0; i < rounds; ++i) {
    if (t.rank() == 0) send();
    MPI_Recv(in[i % 2].data(), bytes, MPI_BYTE, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (t.rank() == 1) send();
  }
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(Transport& t, size_t bytes, int rounds) {
  std::vector<char> out(bytes, 1), in[2] = {out, out};
  std::vector<double> seconds[2], ratios;
  for (int turn = -1; turn < kTurns; ++turn) {
    double took[2];
    for (const bool ours : {true, false}) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = Now();
      (ours ? Ours : Plain)(t, out, in, rounds);
      took[!ours] = (Now() - begin) / (2 * rounds);
    }
    if (turn < 0) continue;  // the first touches memory
    for (const int side : {0, 1}) seconds[side].push_back(took[side]);
    ratios.push_back(took[0] / took[1]);
  }
  if (t.rank() != 0) return;
  const double ours = Median(seconds[0]), plain = Median(seconds[1]);
  const auto rate = [&](double time) { return static_cast<double>(bytes) / time / 1e9; };
  fmt::print("{:>10} {:>12.2f} {:>12.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", bytes, ours * 1e6,
             plain * 1e6, rate(ours), rate(plain), Median(ratios));
}

void PrintPings(Transport& t) {
  if (t.rank() == 0)
    fmt::print("{:>10} {:>12} {:>12} {:>9} {:>9} {:>9}\n", "bytes", "ours, us", "plain, us", "GB/s",
               "plain", "ratio");
  Compare(t, 4, 2000);
  Compare(t, 64 << 10, 500);
  Compare(t, 16 << 20, 10);
}

struct Flags {
  bool collectives = false, links = false;
  bench::CollectivesOptions of_collectives;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_flag("--links", flags.links, "Measure emulated links and compare with their model");
  app.add_flag("--collectives", flags.collectives, "Measure collectives between all processes");
  bench::CollectivesOptions& of = flags.of_collectives;
  app.add_option("--case", of.filter, "Only cases whose name contains this. Default: all");
  app.add_option("--bytes", of.bytes, "Sizes in bytes, comma-separated")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", of.rounds, "Repetitions of each case")->check(CLI::PositiveNumber);
}

int Run(int argc, char** argv) {
  Flags flags;
  CLI::App app("Measures communication between processes.", "mpi_bench");
  AddFlags(app, flags);
  if (PrintsHelp(app, argc, argv)) return 0;
  CheckFlags("mpi_bench", GivenBy(app),
             {{"collectives", flags.collectives, "which has cases"},
              {"no-collectives", !flags.collectives, "give one of them"}});
  parallel::MpiWorld world(flags.collectives ? 0 : 2, parallel::ForProgram());
  if (flags.collectives) {
    if (world.local().front() == 0) bench::PrintCollectivesHead(std::cout);
    bench::PrintCollectives(world, flags.of_collectives, std::cout);
  } else {
    world.Run([&](Transport& t) { flags.links ? PrintLinks(t, std::cout) : PrintPings(t); });
  }
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("mpi_bench", [&] { return torus::tools::Run(argc, argv); });
}
