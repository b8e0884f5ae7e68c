#include "parallel/collectives/broadcast.h"

#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr Tag kBroadcastTag{TagClass::kCollective, 3};
constexpr Tag kBarrierTag{TagClass::kCollective, 4};

}  // namespace

void Broadcast(Transport& transport, std::span<std::byte> data, int root, const std::string& what) {
  const int n = transport.size();
  Require(root >= 0 && root < n, "broadcast", "root must be below {}, got {} ({})", n, root, what);
  // Ranks are counted from the root. In the round of `mask` rank i < mask sends to rank i + mask.
  const int me = (transport.rank() - root + n) % n;
  for (int mask = 1; mask < n; mask *= 2) {
    if (me < mask && me + mask < n) {
      transport.Send((me + mask + root) % n, kBroadcastTag, {data.data(), data.size()}, what)
          .Wait();
    } else if (me >= mask && me < 2 * mask) {
      transport.Recv((me - mask + root) % n, kBroadcastTag, {data.data(), data.size()}, what)
          .Wait();
    }
  }
}

void Barrier(Transport& transport, const std::string& what) {
  const int n = transport.size(), rank = transport.rank();
  for (int distance = 1; distance < n; distance *= 2) {
    Pending sent = transport.Send((rank + distance) % n, kBarrierTag, {}, what);
    transport.Recv((rank - distance + n) % n, kBarrierTag, {}, what).Wait();
    sent.Wait();
  }
}

}  // namespace torus::parallel
