// NcclTransport: sends GPU memory by NCCL, and everything else, including the control messages for
// it, over the underlying transport (threads or MPI processes).
//
// Two ranks that send to each other share a communicator, and so do groups that sum; nobody else
// has one (Connect). All ranks launch NCCL's operations in one order (turns.h), each when all its
// members have come, so they cannot wait for each other in a circle, and what cannot deadlock on
// the underlying transport cannot deadlock here. Until then, deadlines and errors are those of the
// underlying transport. After that, the run is aborted if no GPU has ended an operation for the
// timeout, or if NCCL reports that a communicator has failed. When the run is aborted, a separate
// thread aborts the communicators (ncclCommAbort): the rank's own thread may be blocked in a CUDA
// call behind a stream that waits for a message.
//
// If the memory of one side is on its GPU, that of the other side must be too: each side chooses
// between NCCL and the underlying transport by its own memory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/nccl/nccl_engine.h"
#include "parallel/transport/nccl/nccl_launches.h"
#include "parallel/transport/nccl/nccl_receiver.h"
#include "parallel/transport/nccl/nccl_sender.h"
#include "parallel/transport/nccl/nccl_watchdog.h"
#include "parallel/transport/topology.h"

namespace torus::parallel {

struct NcclOptions {
  Device device{DeviceKind::kCuda, 0};  // of this rank
  double timeout = 60;                  // seconds, for joining and without any operation that ends
};

class NcclTransport : public DecoratedTransport {
 public:
  // All ranks of `inner` construct it together; Connect makes its communicators. `inner` and
  // `library` must outlive it.
  NcclTransport(Transport& inner, NcclLibrary& library, NcclOptions options);
  ~NcclTransport() override;

  // Waits until all messages and sums have ended, on this rank and on the others. All ranks call it
  // together before they destroy their transports, but not after an error.
  void Finish();

  bool Moves(Device device) const override {
    return device == options_.device || inner_.Moves(device);
  }
  // Of GPU memory: whether each two of them were connected as a pair.
  bool MovesAmong(const std::vector<int>& members, Device device) const override;
  // Makes one communicator for each pair and each group, joined all at once and in one order.
  void Connect(const Topology& topology) override;
  // GPU memory goes through NcclSender and NcclReceiver, except from the rank to itself. Throws
  // BadInput if the two ranks are not connected.
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  uint64_t BytesSent(int peer, TagClass kind) const override;
  uint64_t BytesComputed(int peer) const override;
  // NCCL's if the members were connected as a group, else that of the underlying transport.
  Engine* EngineOf(const std::vector<int>& members) override;
  SharedBuffers* SharedBuffersOf(const std::vector<int>& members) override;

 private:
  struct Communicator {
    std::vector<int> members;
    NcclUse use;
  };
  struct Link {
    Link(Transport& inner, NcclLibrary& library, NcclLaunches& launches, const NcclLink& link,
         Device device);
    NcclSender sender;
    NcclReceiver receiver;
  };
  std::vector<Communicator> NewOf(const Topology& topology);
  std::vector<NcclSeat> Meet(const std::vector<Communicator>& own);
  void Use(const Communicator& joined, int number);
  bool MovesByNccl(int peer, Tag tag, Device device, size_t bytes) const;
  Link& LinkWith(int peer, const std::string& what);

  Transport& inner_;
  NcclLibrary& library_;
  const NcclOptions options_;
  NcclLaunches launches_;
  std::map<int, std::unique_ptr<Link>> links_;  // by peer
  std::set<std::vector<int>> pairs_, groups_;   // of the whole world, connected so far
  std::map<std::vector<int>, std::unique_ptr<NcclEngine>> engines_;  // by members
  std::optional<NcclWatchdog> watchdog_;
};

}  // namespace torus::parallel
