#include "parallel/transport/shared_message.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace torus::parallel {
namespace {

bool Whole(const Transport* group) { return group == nullptr || group->size() == 1; }

struct Part {
  size_t begin = 0, size = 0;
};

Part PartOf(const Transport& group, size_t bytes, int rank) {
  const auto n = static_cast<size_t>(group.size()), r = static_cast<size_t>(rank);
  const size_t begin = bytes * r / n;
  return {begin, bytes * (r + 1) / n - begin};
}

bool AllDone(const std::vector<Pending>& pending) {
  return std::ranges::all_of(pending, [](const Pending& one) { return one.Done(); });
}

// The buffer of a part; an empty part counts as CPU memory.
Buffer PartOf(const Transport& group, const Buffer& whole, int rank) {
  const Part part = PartOf(group, whole.bytes, rank);
  if (part.size == 0) return {};
  return {static_cast<char*>(whole.data) + part.begin, part.size, whole.device, whole.stream};
}

// Receives this rank's own part and those of the others. Receives from the others start at once.
// When the message is waited for or polled, parts that have arrived are taken, and the own part is
// sent to the others.
class GatheredMessage : public Pending::State {
 public:
  GatheredMessage(Transport& transport, Transport& group, int peer, Tag tag, Buffer whole,
                  std::string what)
      : group_(group), tag_(tag), own_(PartOf(group, whole, group.rank())) {
    const int n = group.size();
    const std::string gather = what + ", all-gather";
    for (int k = 1; k < n; ++k) {
      const int from = (group.rank() + n - k) % n;
      if (const Buffer part = PartOf(group, whole, from); part.bytes > 0)
        gathered_.push_back(group.Recv(from, tag, part, gather));
    }
    what_ = gather;
    if (own_.bytes > 0) came_ = transport.Recv(peer, tag, own_, std::move(what));
  }

  WaitTime Wait() override {
    return WaitForAllBy([](Pending& pending) { return pending.Wait(); });
  }
  WaitTime WaitOn(StreamHandle stream) override {
    own_.stream = stream;
    return WaitForAllBy([stream](Pending& pending) { return pending.WaitOn(stream); });
  }
  // Takes whatever has arrived: otherwise its sender would never learn that it is done.
  bool Done() override {
    for (Pending& pending : gathered_)
      if (pending.Done()) pending.Wait();
    if (!came_.Done()) return false;
    came_.Wait();
    HandOn();
    return AllDone(gathered_) && AllDone(sent_);
  }

 private:
  template <class Fn>
  WaitTime WaitForAllBy(const Fn& wait) {
    WaitTime total;
    const auto add = [&](Pending& pending) {
      const WaitTime time = wait(pending);
      total.blocked += time.blocked;
      total.moving += time.moving;
    };
    add(came_);
    HandOn();
    for (Pending& pending : gathered_) add(pending);
    for (Pending& pending : sent_) add(pending);
    return total;
  }

  // Only the first call has an effect.
  void HandOn() {
    const int n = group_.size();
    for (int k = 1; k < n && own_.bytes > 0 && sent_.size() + 1 < static_cast<size_t>(n); ++k)
      sent_.push_back(group_.Send((group_.rank() + k) % n, tag_,
                                  {own_.data, own_.bytes, own_.device, own_.stream}, what_));
  }

  Transport& group_;
  const Tag tag_;
  std::string what_;
  Buffer own_;
  Pending came_;
  std::vector<Pending> gathered_, sent_;
};

}  // namespace

size_t BytesOfPart(const Transport* group, size_t bytes) {
  return Whole(group) ? bytes : PartOf(*group, bytes, group->rank()).size;
}

Pending SendPart(Transport& transport, const Transport* group, int peer, Tag tag, ConstBuffer whole,
                 std::string what) {
  if (Whole(group)) return transport.Send(peer, tag, whole, std::move(what));
  const Part part = PartOf(*group, whole.bytes, group->rank());
  if (part.size == 0) return {};
  return transport.Send(
      peer, tag,
      {static_cast<const char*>(whole.data) + part.begin, part.size, whole.device, whole.stream},
      std::move(what));
}

Pending RecvParts(Transport& transport, Transport* group, int peer, Tag tag, Buffer whole,
                  std::string what) {
  if (Whole(group)) return transport.Recv(peer, tag, whole, std::move(what));
  return Pending(
      std::make_unique<GatheredMessage>(transport, *group, peer, tag, whole, std::move(what)));
}

}  // namespace torus::parallel
