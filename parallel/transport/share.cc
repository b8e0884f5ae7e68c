#include "parallel/transport/share.h"

namespace torus::parallel {

std::vector<std::byte> ShareRecord(Transport& ranks, Tag tag, std::span<const std::byte> record,
                                   const std::string& what, double* waited) {
  const int n = ranks.size(), rank = ranks.rank();
  const size_t one = record.size();
  std::vector<std::byte> all(one * n);  // of this rank, the next one, and so on
  std::ranges::copy(record, all.begin());
  for (int have = 1; have < n; have *= 2) {
    const size_t bytes = one * std::min(have, n - have);
    Pending received = ranks.Recv((rank + have) % n, tag, {all.data() + one * have, bytes}, what);
    Pending sent = ranks.Send((rank - have + n) % n, tag, {all.data(), bytes}, what);
    const int64_t blocked = received.Wait().blocked + sent.Wait().blocked;
    if (waited != nullptr) *waited += static_cast<double>(blocked) * 1e-9;
  }
  std::rotate(all.begin(), all.begin() + static_cast<ptrdiff_t>(one * ((n - rank) % n)), all.end());
  return all;
}

}  // namespace torus::parallel
