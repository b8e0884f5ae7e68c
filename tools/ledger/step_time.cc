#include "tools/ledger/step_time.h"

#include <algorithm>

#include "tools/ledger/cache.h"
#include "tools/ledger/machine.h"

namespace torus::ledger {

StepTime TimeOf(const Works& works) {
  const Machine machine;
  Cache cache(kCacheBytes);
  double in_order = 0, beside = 0, gaps = 0;
  for (const auto& work : works) {
    (work->beside ? beside : in_order) += machine.Seconds(*work, cache.Use(*work));
    if (!work->beside) gaps += machine.gap * work->launches;
  }
  return {.kernels = in_order + beside, .graph = std::max(in_order + gaps, beside)};
}

}  // namespace torus::ledger
