// EmulatedLink: a transport over another whose messages take as long as on slower links, in user
// space. The other transport must be faster.
//
// The sender stamps each message with the time of its arrival: when the link has carried it, one
// message of that direction after the other, plus the latency. The receiver waits until then. The
// stamp is a message of 8 bytes beside each message; it is not counted in BytesSent. Times are
// those of the steady clock, so the ranks must be on one host.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "parallel/link/link_clock.h"
#include "parallel/link/link_table.h"
#include "parallel/transport/decorated_transport.h"

namespace torus::parallel {

class EmulatedLink : public DecoratedTransport {
 public:
  // `inner` must outlive it. All ranks give the same `links`, which name world ranks; BadInput for
  // a rank that there is not. `seed`: of the jitter.
  EmulatedLink(Transport& inner, const LinkTable& links, uint64_t seed = 0);

  // As Transport; BadInput where `inner` is over an emulated link itself.
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  uint64_t BytesSent(int peer, TagClass kind) const override;

 private:
  // Of the link to a peer.
  struct Sender {
    LinkClock clock;
    uint64_t stamps[kTagClasses] = {};
  };
  mutable std::mutex mutex_;  // of what is below
  std::vector<Sender> senders_;
};

}  // namespace torus::parallel
