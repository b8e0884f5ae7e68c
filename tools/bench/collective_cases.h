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
  // Bus bandwidth / algorithm bandwidth with `ranks` ranks: the factors of nccl-tests
  // (doc/PERFORMANCE.md).
  std::function<double(int ranks)> bus_factor;
  // Makes one call on a span of the measured size. The second span is workspace of the same size.
  std::function<void(parallel::Transport&, std::span<float>, std::span<float>)> run;
};

// "all-reduce direct", ...: one case for each algorithm of the factory, the engine's if the
// transport has one, and the other collectives. All ranks call it.
std::vector<CollectiveCase> CollectiveCases(parallel::Transport& transport);

}  // namespace torus::bench
