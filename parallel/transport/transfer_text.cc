#include "parallel/transport/transfer_text.h"

#include <fmt/format.h>

namespace torus::parallel {

std::string WaitingText(const TransferText& transfer) {
  return fmt::format("waiting for rank {} to {} {} bytes, tag {} ({})", transfer.peer,
                     transfer.sends ? "receive" : "send", transfer.bytes, ToString(transfer.tag),
                     transfer.what);
}

std::string GaveUpText(const TransferText& transfer, double elapsed, double timeout,
                       const std::string& chain) {
  return fmt::format(
      "[transport] rank {} gave up after {:.2f} s {}, and {:.2f} s without a sign of life: {}",
      transfer.rank, elapsed, WaitingText(transfer), timeout, chain);
}

std::string StoppedText(int rank, const std::string& waiting, int by, const std::string& reason) {
  return fmt::format("[transport] rank {} stops{} because {} failed: {}", rank,
                     waiting.empty() ? "" : fmt::format(" {},", waiting),
                     by < 0 ? "the run" : fmt::format("rank {}", by), reason);
}

std::string SizesDifferText(const TransferText& send, const TransferText& recv) {
  return fmt::format(
      "[transport] sizes differ: rank {} sends {} bytes ({}), rank {} receives {} ({}), tag {}",
      send.rank, send.bytes, send.what, recv.rank, recv.bytes, recv.what, ToString(send.tag));
}

}  // namespace torus::parallel
