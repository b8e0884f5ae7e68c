#include "parallel/trainer/control.h"

namespace torus::parallel {

Tag ControlTag(ControlMessage message) {
  return {TagClass::kControl, (3 << 22) + static_cast<int32_t>(message)};
}

std::vector<std::byte> Control::AllGather(std::span<const std::byte> record,
                                          const std::string& what, double* waited) {
  const int n = world_.size(), rank = world_.rank();
  const size_t one = record.size();
  const Tag tag = ControlTag(ControlMessage::kRecord);
  std::vector<std::byte> all(one * n);  // of this rank, the next one, and so on
  std::copy(record.begin(), record.end(), all.begin());
  for (int have = 1; have < n; have *= 2) {
    const size_t bytes = one * std::min(have, n - have);
    Pending received = world_.Recv((rank + have) % n, tag, {all.data() + one * have, bytes}, what);
    Pending sent = world_.Send((rank - have + n) % n, tag, {all.data(), bytes}, what);
    const int64_t blocked = received.Wait().blocked + sent.Wait().blocked;
    if (waited != nullptr) *waited += static_cast<double>(blocked) * 1e-9;
  }
  std::rotate(all.begin(), all.begin() + static_cast<ptrdiff_t>(one * ((n - rank) % n)), all.end());
  return all;
}

// Pads all to the longest, which is cheap for short messages.
std::vector<std::vector<std::byte>> Control::ShareBytes(std::span<const std::byte> bytes,
                                                        const std::string& what) {
  const std::vector<uint64_t> sizes = Share<uint64_t>(bytes.size(), "size of " + what);
  const uint64_t most = std::ranges::max(sizes);
  std::vector<std::byte> mine(bytes.begin(), bytes.end());
  mine.resize(most);
  const std::vector<std::byte> all = AllGather(mine, what);
  std::vector<std::vector<std::byte>> shared;
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(rank * most);
    shared.emplace_back(begin, begin + static_cast<ptrdiff_t>(sizes[rank]));
  }
  return shared;
}

std::vector<std::vector<std::byte>> Control::Gather(std::span<const std::byte> bytes,
                                                    const std::string& what) {
  const Tag tag = ControlTag(ControlMessage::kBytes);
  const std::vector<uint64_t> sizes = Share<uint64_t>(bytes.size(), "size of " + what);
  if (world_.rank() != 0) {
    world_.Send(0, tag, {bytes.data(), bytes.size()}, what).Wait();
    return {};
  }
  std::vector<std::vector<std::byte>> all{{bytes.begin(), bytes.end()}};
  for (int rank = 1; rank < world_.size(); ++rank) {
    std::vector<std::byte>& one = all.emplace_back(sizes[rank]);
    world_.Recv(rank, tag, {one.data(), one.size()}, what).Wait();
  }
  return all;
}

uint8_t Control::Announce(uint8_t value, const std::string& what) {
  const Tag tag = ControlTag(ControlMessage::kAnnouncement);
  if (world_.rank() != 0) {
    world_.Recv(0, tag, {&value, sizeof value}, what).Wait();
    return value;
  }
  const auto taken = [](const Announcement& one) {
    return std::ranges::all_of(one.sends, [](const Pending& send) { return send.Done(); });
  };
  while (!announced_.empty() && taken(announced_.front())) announced_.pop_front();
  Announcement& now = announced_.emplace_back(value);
  for (int peer = 1; peer < world_.size(); ++peer)
    now.sends.push_back(world_.Send(peer, tag, {&now.value, sizeof now.value}, what));
  return value;
}

}  // namespace torus::parallel
