#include "parallel/collectives/barrier.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kCollective, 4};

}  // namespace

void Barrier(Transport& transport, const std::string& what) {
  const int n = transport.size(), rank = transport.rank();
  for (int distance = 1; distance < n; distance *= 2) {
    Pending sent = transport.Send((rank + distance) % n, kTag, {}, what);
    transport.Recv((rank - distance + n) % n, kTag, {}, what).Wait();
    sent.Wait();
  }
}

}  // namespace torus::parallel
