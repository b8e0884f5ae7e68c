// NcclTransport: moves the memory of a GPU by NCCL, and all else, with everything that ranks tell
// each other beside it, by the transport underneath (threads or MPI processes).
//
// Each direction between two ranks has a communicator and a stream of its own. So a message waits
// for those before it on its link alone, and what cannot deadlock on the transport underneath,
// where sends never wait for each other, cannot here. Deadlines and errors are those of the
// transport underneath until both sides have put their part into a stream (nccl_sender.h); then it
// must end within the timeout, or the run is aborted. Whoever aborts it, the communicators are
// (ncclCommAbort), by a thread of its own: the rank's may be blocked in a call of CUDA's, behind a
// stream that waits for a message.
//
// Memory of the one side must be the GPU's where the other's is: each side picks the way by its
// own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/nccl/nccl_engine.h"
#include "parallel/transport/nccl/nccl_receiver.h"
#include "parallel/transport/nccl/nccl_sender.h"
#include "parallel/transport/nccl/nccl_watchdog.h"

namespace torus::parallel {

struct NcclOptions {
  Device device{DeviceKind::kCuda, 0};  // of this rank
  double timeout = 60;                  // seconds for what both sides have begun, and for joining
};

class NcclTransport : public DecoratedTransport {
 public:
  // All ranks of `inner` make it together. `inner` and `library` must outlive it.
  NcclTransport(Transport& inner, NcclLibrary& library, NcclOptions options);
  ~NcclTransport() override;

  // Until all that was sent and summed has arrived, on this rank and on the others.
  // All ranks call it together, before they give their transports up; not after an error.
  void Finish();

  bool Moves(Device device) const override {
    return device == options_.device || inner_.Moves(device);
  }
  // Of the GPU's memory as NcclSender and NcclReceiver do it; not to the rank itself.
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  uint64_t BytesSent(int peer, TagClass kind) const override;
  Engine* EngineOf(const std::vector<int>& members) override;
  SharedRooms* RoomsOf(const std::vector<int>& members) override;

 private:
  std::unique_ptr<NcclComm> Join(int peer, bool sends);
  void Connect();
  bool MovesByNccl(int peer, Tag tag, Device device, size_t bytes) const;

  Transport& inner_;
  NcclLibrary& library_;
  const NcclOptions options_;
  std::vector<std::unique_ptr<NcclSender>> senders_;      // by peer
  std::vector<std::unique_ptr<NcclReceiver>> receivers_;  // by peer
  std::map<std::vector<int>, std::unique_ptr<NcclEngine>> engines_;
  NcclWatchdog watchdog_;  // last: it ends before what it watches
};

}  // namespace torus::parallel
