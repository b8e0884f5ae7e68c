#include "parallel/collectives/all_to_all.h"

#include <algorithm>
#include <vector>

#include "parallel/collectives/pieces.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kCollective, 9};

}  // namespace

void AllToAll(Transport& transport, std::span<const std::byte> send, std::span<std::byte> receive,
              const std::string& what) {
  const int n = transport.size(), rank = transport.rank();
  Require(send.size() == receive.size() && send.size() % n == 0, "all-to-all",
          "needs {} blocks of one size to send and to receive, got {} and {} bytes ({})", n,
          send.size(), receive.size(), what);
  const size_t block = send.size() / n;
  if (block == 0) return;
  std::vector<Pending> received, sent;
  for (int k = 1; k < n; ++k) {
    const int from = (rank - k + n) % n, to = (rank + k) % n;
    received.push_back(
        transport.Recv(from, kTag, {receive.subspan(from * block, block).data(), block}, what));
    sent.push_back(transport.Send(to, kTag, {send.subspan(to * block, block).data(), block}, what));
  }
  const std::span<const std::byte> own = send.subspan(rank * block, block);
  std::copy(own.begin(), own.end(), receive.subspan(rank * block, block).begin());
  WaitForAll(received);
  WaitForAll(sent);
}

}  // namespace torus::parallel
