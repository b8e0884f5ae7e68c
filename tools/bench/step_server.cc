#include "tools/bench/step_server.h"

#include <sys/resource.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "runtime/trace.h"
#include "tools/bench/gemm_peak.h"

namespace torus::bench {
namespace {

int64_t PeakRss() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

void ServeSteps(const TrainStepOptions& options, const std::string& exchange, std::istream& in,
                std::ostream& out) {
  TrainStep step(options, exchange);
  out << nlohmann::json{{"size", step.options().size},
                        {"batch", step.options().batch},
                        {"flops", step.flops()},
                        {"gemm_gflops", GemmPeak(options.precision)}}
      << std::endl;
  for (int steps = 0; in >> steps;) {
    std::vector<double> losses, seconds, cpu_seconds;
    for (int i = 0; i < steps; ++i) {
      const int64_t begin = trace::Now();
      const double cpu_begin = CpuSeconds();
      losses.push_back(step.Run());
      seconds.push_back(static_cast<double>(trace::Now() - begin) * 1e-9);
      cpu_seconds.push_back(CpuSeconds() - cpu_begin);
    }
    out << nlohmann::json{{"losses", losses},
                          {"seconds", seconds},
                          {"cpu_seconds", cpu_seconds},
                          {"peak_rss", PeakRss()}}
        << std::endl;
  }
}

}  // namespace torus::bench
