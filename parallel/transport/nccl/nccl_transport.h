// NcclTransport: sends GPU memory by NCCL, and everything else, including the control messages for
// it, over the underlying transport (threads or MPI processes).
//
// Each direction between two ranks has its own communicator and stream. So a message waits only for
// earlier messages of its own link, and what cannot deadlock on the underlying transport, where
// sends never wait for each other, cannot deadlock here. Until both sides have put their part into
// a stream (nccl_sender.h), deadlines and errors are those of the underlying transport; after that
// the message must end within the timeout, or the run is aborted. When any rank aborts the run, a
// separate thread aborts the communicators (ncclCommAbort): the rank's own thread may be blocked in
// a CUDA call behind a stream that waits for a message.
//
// If the memory of one side is on its GPU, that of the other side must be too: each side chooses
// between NCCL and the underlying transport by its own memory.
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
  double timeout = 60;  // seconds, for work that both sides have started and for joining
};

class NcclTransport : public DecoratedTransport {
 public:
  // All ranks of `inner` construct it together. `inner` and `library` must outlive it.
  NcclTransport(Transport& inner, NcclLibrary& library, NcclOptions options);
  ~NcclTransport() override;

  // Waits until all messages and sums have ended, on this rank and on the others. All ranks call it
  // together before they destroy their transports, but not after an error.
  void Finish();

  bool Moves(Device device) const override {
    return device == options_.device || inner_.Moves(device);
  }
  // GPU memory goes through NcclSender and NcclReceiver, except from the rank to itself.
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  uint64_t BytesSent(int peer, TagClass kind) const override;
  Engine* EngineOf(const std::vector<int>& members) override;
  SharedBuffers* SharedBuffersOf(const std::vector<int>& members) override;

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
