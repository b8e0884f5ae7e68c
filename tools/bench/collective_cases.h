// The collectives that are measured.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::bench {

struct CollectiveCase {
  std::string name;
  // Bus bandwidth over algorithm bandwidth among n ranks: the factors of nccl-tests
  // (doc/PERFORMANCE.md).
  std::function<double(int ranks)> bus_factor;
  // One call with a span of the size that is measured; the last is room of the same size.
  std::function<void(parallel::Transport&, std::span<float>, std::span<float>)> run;
};

// "all-reduce direct", ... for each algorithm of the factory, the engine's where the transport has
// one, and the other collectives. Called by all ranks.
std::vector<CollectiveCase> CollectiveCases(parallel::Transport& transport);

}  // namespace torus::bench
