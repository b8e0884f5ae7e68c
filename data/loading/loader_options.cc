#include "data/loading/loader_options.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/error.h"

namespace torus::data {

LoaderOptions Checked(LoaderOptions options) {
  const std::pair<const char*, int> counts[] = {{"replicas", options.replicas},
                                                {"micro-batches", options.micro_batches},
                                                {"readers", options.readers},
                                                {"workers", options.workers},
                                                {"prefetch", options.prefetch}};
  for (const auto& [name, count] : counts) {
    Require(count >= 1, "loader", "requires {} of at least 1, got {}", name, count);
  }
  constexpr double kLongest = 1e8;  // clocks count nanoseconds in 64 bits, which would overflow
  Require(options.timeout_seconds > 0 && options.timeout_seconds <= kLongest, "loader",
          "requires a timeout above 0 and of at most {} seconds, got {}", kLongest,
          options.timeout_seconds);
  std::vector<int>& local = options.local_replicas;
  if (local.empty()) {
    local.resize(options.replicas);
    std::iota(local.begin(), local.end(), 0);
  }
  for (const int replica : local) {
    Require(replica >= 0 && replica < options.replicas, "loader",
            "requires a local replica of 0 to {}, got {}", options.replicas - 1, replica);
    Require(std::count(local.begin(), local.end(), replica) == 1, "loader",
            "requires each local replica once, got {} twice", replica);
  }
  return options;
}

}  // namespace torus::data
