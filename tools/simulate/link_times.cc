// tools/simulate:link_times: measures whether messages over `--link` take bytes / throughput +
// latency. Run it on an otherwise idle machine. tools/bench:mpi_bench does the same over MPI.
#include <iostream>

#include "parallel/transport/run_ranks.h"
#include "tools/common/run_main.h"
#include "tools/simulate/measure_link.h"

int main() {
  return torus::tools::RunMain("link_times", [] {
    torus::parallel::RunRanks(
        2, [](torus::parallel::Transport& world) { torus::tools::PrintLinks(world, std::cout); });
    return 0;
  });
}
