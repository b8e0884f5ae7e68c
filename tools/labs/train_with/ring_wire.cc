#include "tools/labs/train_with/ring_wire.h"

#include <algorithm>
#include <array>

#include "parallel/collectives/barrier.h"
#include "runtime/error.h"
#include "runtime/trace.h"
#include "tools/labs/train_with/crash_note.h"

namespace torus::tools::labs {
namespace {

// No other message of a run has it.
constexpr parallel::Tag kTag{parallel::TagClass::kCollective, (1 << 24) - 1};

// Messages of a rank that nobody has received: more are a loop without an end.
constexpr size_t kMostUnderWay = 100'000;

void RecordMessage(const char* does, size_t floats, const char* preposition, int peer,
                   int64_t begin) {
  trace::Record({.name = fmt::format("{} {} floats {} rank {}", does, floats, preposition, peer),
                 .category = kRingCategory,
                 .begin_ns = begin,
                 .end_ns = trace::Now()});
}

}  // namespace

int RingWire::Call(RingFunction function, std::span<float> data, std::span<char> reason) {
  const LabTrainerWire wire{this, transport_.rank(), transport_.size(), &RingWire::Send,
                            &RingWire::Recv};
  const CrashNote note(fmt::format("[ring] AllReduceMean of rank {} ({})", wire.rank, what_));
  watch_.Enter(wire.rank, what_);
  const int end = function(&wire, data.data(), data.size(), reason.data(), reason.size());
  watch_.Leave(wire.rank);
  return end;
}

void RingWire::AllReduceMean(RingFunction function, std::span<float> data) {
  std::array<char, 512> reason{};
  const int end = Call(function, data, reason);
  if (failure_) std::rethrow_exception(failure_);
  Require(end == kLabRingDone, "ring", "rank {}: AllReduceMean threw an exception: {} ({})",
          transport_.world_rank(), reason.data(), what_);
  counts_.sums += 1;
  counts_.elements += data.size();
  RequireNothingLeft();
}

// The student's code must not see an exception of the trainer's: it might catch it.
template <class Work>
int RingWire::Guarded(const Work& work) {
  if (failure_) return 1;
  watch_.Leave(transport_.rank());
  try {
    work();
  } catch (...) {
    failure_ = std::current_exception();
  }
  watch_.Enter(transport_.rank(), what_);
  return failure_ ? 1 : 0;
}

int RingWire::Send(void* wire, int to, const float* data, size_t count) {
  RingWire& self = *static_cast<RingWire*>(wire);
  return self.Guarded([&] { self.Send(to, std::span(data, count)); });
}

int RingWire::Recv(void* wire, int from, float* data, size_t count) {
  RingWire& self = *static_cast<RingWire*>(wire);
  return self.Guarded([&] { self.Recv(from, std::span(data, count)); });
}

void RingWire::RequireOther(const char* does, int peer) const {
  const int n = transport_.size(), rank = transport_.rank();
  Require(peer >= 0 && peer < n && peer != rank, "ring",
          "rank {} of {} {} rank {}, which is no other rank ({})", rank, n, does, peer, what_);
}

void RingWire::Send(int to, std::span<const float> data) {
  RequireOther("sends to", to);
  ForgetArrived();
  Require(sent_.size() < kMostUnderWay, "ring",
          "rank {} has sent {} messages that nobody has received ({})", transport_.world_rank(),
          sent_.size(), what_);
  const int64_t begin = trace::Now();
  Sent& sent = sent_.emplace_back(Sent{to, {data.begin(), data.end()}, {}});
  sent.pending = transport_.Send(to, kTag, {sent.copy.data(), data.size_bytes()},
                                 fmt::format("{}, send {} of the ring", what_, ++sends_));
  counts_.messages += 1;
  counts_.bytes += data.size_bytes();
  counts_.largest_message = std::max<uint64_t>(counts_.largest_message, data.size_bytes());
  RecordMessage("send", data.size(), "to", to, begin);
}

void RingWire::Recv(int from, std::span<float> data) {
  RequireOther("receives from", from);
  const int64_t begin = trace::Now();
  transport_
      .Recv(from, kTag, {data.data(), data.size_bytes()},
            fmt::format("{}, receive {} of the ring", what_, ++receives_))
      .Wait();
  RecordMessage("receive", data.size(), "from", from, begin);
}

void RingWire::ForgetArrived() {
  while (!sent_.empty() && sent_.front().pending.Done()) sent_.pop_front();
}

// Once all ranks have come back nobody receives any more.
void RingWire::RequireNothingLeft() {
  parallel::Barrier(quiet_, "end of the ring, " + what_);
  for (Sent& sent : sent_)
    Require(sent.pending.Done(), "ring",
            "rank {} sent rank {} a message of {} floats that it did not receive ({})",
            transport_.world_rank(), sent.to, sent.copy.size(), what_);
  sent_.clear();
}

}  // namespace torus::tools::labs
