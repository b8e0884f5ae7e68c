// tools/simulate:link_times: whether messages over `--link` take bytes / throughput + latency. A
// measurement, to be made on a machine that does nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parallel/transport/run_ranks.h"
#include "tools/common/run_main.h"
#include "tools/simulate/measure_link.h"

namespace torus::tools {
namespace {

int Main() {
  std::vector<size_t> sizes;
  for (size_t bytes = 1 << 10; bytes <= size_t{64} << 20; bytes *= 4) sizes.push_back(bytes);
  const std::vector<std::string> links = {"1ms,5Gbps", "10ms,1Gbps", "50ms,100Mbps",
                                          "5ms,2Gbps,window=64KB", "50ms,1Gbps,window=3MB"};
  double worst = 0;
  parallel::RunRanks(2, [&](parallel::Transport& world) {
    for (const LinkTime& time : MeasureLinks(world, links, sizes)) {
      const double error = time.measured / time.expected - 1;
      fmt::print("{:<24} {:>9} B  expected {:>9.6f} s  measured {:>9.6f} s  {:>+6.2f} %\n",
                 time.link, time.bytes, time.expected, time.measured, 100 * error);
      worst = std::max(worst, std::abs(error));
    }
  });
  fmt::print("at most {:.2f} % from the model, over threads\n", 100 * worst);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main() {
  return torus::tools::RunMain("link_times", [] { return torus::tools::Main(); });
}
