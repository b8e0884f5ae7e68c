#include "parallel/transport/emulated_link.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/error.h"
#include "runtime/progress.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kSlice{2'000'000};    // of a sleep, after which an abort is seen
constexpr nanoseconds kImprecise{200'000};  // by which a sleep may end late: the rest is spun

int64_t Now() {
  return std::chrono::duration_cast<nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Tag StampOf(Tag tag) {
  Require(!tag.stamp, "link", "one emulated link over another has no tags left for its stamps");
  tag.stamp = true;
  return tag;
}

// Sleeps until `time`. A message under way is progress, however slow the link.
void SleepUntil(int64_t time, const Transport& transport) {
  for (int64_t left = time - Now(); left > 0; left = time - Now()) {
    transport.ThrowIfAborted();
    TickProgress();
    if (nanoseconds(left) > kImprecise)
      std::this_thread::sleep_for(std::min(kSlice, nanoseconds(left) - kImprecise));
    else
      std::this_thread::yield();
  }
}

struct Stamped {
  int64_t arrival = 0;
  Pending stamp, message;
};

class SendState : public Pending::State {
 public:
  explicit SendState(std::unique_ptr<Stamped> sent) : sent_(std::move(sent)) {}
  WaitTime Wait() override {
    const WaitTime time = sent_->message.Wait();
    sent_->stamp.Wait();
    return time;
  }
  bool Done() override { return sent_->stamp.Done() && sent_->message.Done(); }

 private:
  std::unique_ptr<Stamped> sent_;  // the stamp's bytes are read from it
};

class RecvState : public Pending::State {
 public:
  RecvState(std::unique_ptr<Stamped> expected, const Transport& transport)
      : expected_(std::move(expected)), transport_(transport) {}

  WaitTime Wait() override {
    WaitTime time = expected_->message.Wait();
    const int64_t begin = Now();
    expected_->stamp.Wait();
    SleepUntil(expected_->arrival, transport_);
    time.moving += Now() - begin;
    return time;
  }

  bool Done() override {
    if (!expected_->stamp.Done() || !expected_->message.Done()) return false;
    expected_->stamp.Wait();
    return Now() >= expected_->arrival;
  }

 private:
  std::unique_ptr<Stamped> expected_;
  const Transport& transport_;
};

}  // namespace

EmulatedLink::EmulatedLink(Transport& inner, const LinkTable& links, uint64_t seed)
    : inner_(inner), links_(links), seed_(seed), senders_(inner.size()) {
  Require(links.largest_rank() < inner.size(), "link", "names rank {}, but there are {} ranks",
          links.largest_rank(), inner.size());
}

int64_t EmulatedLink::ArrivalOf(int peer, size_t bytes) {
  Sender& sender = senders_[peer];
  const LinkModel& link = links_.Get(rank(), peer);
  const auto nanoseconds_of = [](double seconds) { return static_cast<int64_t>(seconds * 1e9); };
  sender.free =
      std::max(sender.free, Now()) + nanoseconds_of(link.Occupied(static_cast<double>(bytes)));
  const RandomStream stream({.seed = seed_,
                             .step = sender.messages++,
                             .layer = HashName("link"),
                             .sample = static_cast<uint64_t>(rank()) << 32 | peer});
  const double late = link.latency + link.jitter * stream.Uniform(0);
  sender.arrival = std::max(sender.arrival, sender.free + nanoseconds_of(late));
  return sender.arrival;
}

Pending EmulatedLink::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  const Tag stamp_tag = StampOf(tag);
  auto sent = std::make_unique<Stamped>();
  // The inner transport refuses a peer that there is not.
  sent->message = inner_.Send(peer, tag, buffer, what);
  sent->arrival = ArrivalOf(peer, buffer.bytes);
  ++senders_[peer].stamps[static_cast<size_t>(tag.kind)];
  sent->stamp =
      inner_.Send(peer, stamp_tag, {&sent->arrival, sizeof(sent->arrival)}, "arrival of " + what);
  return Pending(std::make_unique<SendState>(std::move(sent)));
}

Pending EmulatedLink::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  const Tag stamp_tag = StampOf(tag);
  auto expected = std::make_unique<Stamped>();
  expected->message = inner_.Recv(peer, tag, buffer, what);
  expected->stamp = inner_.Recv(peer, stamp_tag, {&expected->arrival, sizeof(expected->arrival)},
                                "arrival of " + what);
  return Pending(std::make_unique<RecvState>(std::move(expected), inner_));
}

uint64_t EmulatedLink::BytesSent(int peer, TagClass kind) const {
  return inner_.BytesSent(peer, kind) -
         sizeof(int64_t) * senders_[peer].stamps[static_cast<size_t>(kind)];
}

}  // namespace torus::parallel
