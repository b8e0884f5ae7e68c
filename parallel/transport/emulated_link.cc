#include "parallel/transport/emulated_link.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

constexpr double kSlice = 2e-3;      // seconds of a sleep: how late an abort is noticed
constexpr double kImprecise = 2e-4;  // seconds that a sleep may end late: this rest is spun

const LinkTime kSteadyTime{};

Tag StampOf(Tag tag) {
  Require(!tag.stamp, "link", "one emulated link over another has no tags left for its stamps");
  tag.stamp = true;
  return tag;
}

struct Stamped {
  double arrival = 0;
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
  std::unique_ptr<Stamped> sent_;  // holds the stamp's bytes while they are sent
};

class RecvState : public Pending::State {
 public:
  RecvState(std::unique_ptr<Stamped> expected, const Transport& transport, const LinkTime& clock)
      : expected_(std::move(expected)), transport_(transport), clock_(clock) {}

  WaitTime Wait() override {
    WaitTime time = expected_->message.Wait();
    const double begin = clock_.Now();
    expected_->stamp.Wait();
    clock_.SleepUntil(expected_->arrival, transport_);
    time.moving += static_cast<int64_t>((clock_.Now() - begin) * 1e9);
    return time;
  }

  bool Done() override {
    if (!expected_->stamp.Done() || !expected_->message.Done()) return false;
    expected_->stamp.Wait();
    return clock_.Now() >= expected_->arrival;
  }

 private:
  std::unique_ptr<Stamped> expected_;
  const Transport& transport_;
  const LinkTime& clock_;
};

}  // namespace

double LinkTime::Now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void LinkTime::SleepUntil(double time, const Transport& transport) const {
  for (double left = time - Now(); left > 0; left = time - Now()) {
    transport.ThrowIfAborted();
    TickProgress();
    if (left > kImprecise)
      std::this_thread::sleep_for(
          std::chrono::duration<double>(std::min(kSlice, left - kImprecise)));
    else
      std::this_thread::yield();
  }
}

EmulatedLink::EmulatedLink(Transport& inner, const LinkTable& links, uint64_t seed,
                           const LinkTime* time)
    : DecoratedTransport(inner), time_(time == nullptr ? kSteadyTime : *time) {
  Require(links.largest_rank() < size(), "--link", "names rank {}, but there are {} ranks",
          links.largest_rank(), size());
  const size_t here = SameHost().size();
  Require(here == static_cast<size_t>(size()), "--link",
          "emulates links by the clock that the ranks of one host share; {} of the {} ranks are on "
          "other hosts than rank {}: leave it out, or run on one host",
          size() - static_cast<int>(here), size(), rank());
  for (int peer = 0; peer < size(); ++peer)
    senders_.push_back({LinkClock(links.Get(rank(), peer), rank(), peer, seed)});
}

Pending EmulatedLink::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  const Tag stamp_tag = StampOf(tag);
  auto sent = std::make_unique<Stamped>();
  const std::lock_guard lock(mutex_);  // messages are sent in the order of their arrival times
  // The inner transport refuses a peer that does not exist.
  sent->message = DecoratedTransport::Send(peer, tag, buffer, what);
  Sender& sender = senders_[peer];
  sent->arrival = sender.clock.Carry(static_cast<double>(buffer.bytes), time_.Now()).arrival;
  ++sender.stamps[static_cast<size_t>(tag.kind)];
  sent->stamp = DecoratedTransport::Send(peer, stamp_tag, {&sent->arrival, sizeof(sent->arrival)},
                                         "arrival of " + what);
  return Pending(std::make_unique<SendState>(std::move(sent)));
}

Pending EmulatedLink::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  const Tag stamp_tag = StampOf(tag);
  auto expected = std::make_unique<Stamped>();
  expected->message = DecoratedTransport::Recv(peer, tag, buffer, what);
  expected->stamp = DecoratedTransport::Recv(
      peer, stamp_tag, {&expected->arrival, sizeof(expected->arrival)}, "arrival of " + what);
  return Pending(std::make_unique<RecvState>(std::move(expected), *this, time_));
}

uint64_t EmulatedLink::BytesSent(int peer, TagClass kind) const {
  const std::lock_guard lock(mutex_);
  return DecoratedTransport::BytesSent(peer, kind) -
         sizeof(Stamped::arrival) * senders_[peer].stamps[static_cast<size_t>(kind)];
}

}  // namespace torus::parallel
