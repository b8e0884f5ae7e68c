// EmulatedLink: wraps a transport and delays its messages so that they take as long as on slower
// links. It works inside the program; the wrapped transport must be faster than the links.
//
// The sender stamps each message with its arrival time. The link carries the messages of one
// direction one after another; a message arrives when the link has carried it, plus the latency.
// The receiver waits until then. The stamp is an 8-byte message beside each message and is not
// counted in BytesSent. Times are those of the steady clock, so all ranks must be on one host.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "parallel/link/link_clock.h"
#include "parallel/link/link_table.h"
#include "parallel/transport/decorated_transport.h"

namespace torus::parallel {

// The clock of an emulated link: the steady one, in seconds. A test may have one of its own, by
// which only the links take time.
class LinkTime {
 public:
  virtual ~LinkTime() = default;
  virtual double Now() const;
  // Returns at `time` or later; throws if `transport` is aborted meanwhile. It is progress, however
  // slow the link.
  virtual void SleepUntil(double time, const Transport& transport) const;
};

class EmulatedLink : public DecoratedTransport {
 public:
  // `inner` and `time` must outlive this object; without `time` it is the steady clock. All ranks
  // give the same `links`, whose rank numbers are world ranks. `seed` seeds the jitter. Throws
  // BadInput if `links` names a rank that does not exist, or if ranks are on several hosts, whose
  // clocks differ.
  EmulatedLink(Transport& inner, const LinkTable& links, uint64_t seed = 0,
               const LinkTime* time = nullptr);

  // As Transport. Throws BadInput if `inner` already contains an emulated link.
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  uint64_t BytesSent(int peer, TagClass kind) const override;

 private:
  // State of the link to one peer.
  struct Sender {
    LinkClock clock;
    uint64_t stamps[kTagClasses] = {};
  };
  const LinkTime& time_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Sender> senders_;
};

}  // namespace torus::parallel
