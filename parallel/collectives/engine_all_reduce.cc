#include "parallel/collectives/engine_all_reduce.h"

#include <numeric>
#include <vector>

#include "parallel/collectives/element_types.h"
#include "runtime/error.h"

namespace torus::parallel {

Engine* EngineOfAll(Transport& transport) {
  std::vector<int> members(transport.size());
  std::iota(members.begin(), members.end(), 0);
  return transport.EngineOf(members);
}

template <class T>
void EngineAllReduce(Transport& transport, std::span<T> data, const std::string& what) {
  if (transport.size() == 1 || data.empty()) return;
  Engine* const engine = EngineOfAll(transport);
  Require(
      engine != nullptr, "all-reduce",
      "\"engine\" needs a transport whose library sums by itself (MPI, NCCL); this one has none "
      "({})",
      what);
  engine->AllReduce({data.data(), data.size_bytes()}, kDTypeOf<T>, what).Wait();
}

#define TORUS_ENGINE(T) \
  template void EngineAllReduce<T>(Transport&, std::span<T>, const std::string&);
TORUS_FOR_SUMMED_TYPES(TORUS_ENGINE)
#undef TORUS_ENGINE

int64_t EngineElementsSent(int, int, int64_t) { return 0; }

}  // namespace torus::parallel
