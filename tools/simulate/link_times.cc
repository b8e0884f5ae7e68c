// tools/simulate:link_times: measures whether messages over `--link` take bytes / throughput +
// latency. Run it on an otherwise idle machine. tools/bench:mpi_bench does the same over MPI.
#include <CLI/CLI.hpp>
#include <iostream>

#include "parallel/transport/run_ranks.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/simulate/measure_link.h"

namespace torus::tools {
namespace {

int Main(int argc, char** argv) {
  CLI::App app("Measures emulated links between two ranks and compares with their model.",
               "link_times");
  if (PrintsHelp(app, argc, argv)) return 0;
  parallel::RunRanks(2, [](parallel::Transport& world) { PrintLinks(world, std::cout); });
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("link_times", [&] { return torus::tools::Main(argc, argv); });
}
