#include "parallel/collectives/any_rank.h"

#include <cstdint>

namespace torus::parallel {
namespace {

// Above all numbers of the pipeline's control messages.
constexpr Tag kTag{TagClass::kControl, 3 << 22};

}  // namespace

bool AnyRank(Transport& transport, bool mine, const std::string& what, double& waited_seconds) {
  const int n = transport.size(), rank = transport.rank();
  uint8_t known = mine ? 1 : 0;
  const auto wait = [&](Pending& pending) {
    waited_seconds += static_cast<double>(pending.Wait().blocked) * 1e-9;
  };
  for (int distance = 1; distance < n; distance *= 2) {
    uint8_t heard = 0;
    const uint8_t told = known;
    Pending sent = transport.Send((rank + distance) % n, kTag, {&told, 1}, what);
    Pending received = transport.Recv((rank - distance + n) % n, kTag, {&heard, 1}, what);
    wait(received);
    wait(sent);
    known |= heard;
  }
  return known != 0;
}

}  // namespace torus::parallel
