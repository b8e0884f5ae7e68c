// The interface through which the NCCL transport uses NCCL and CUDA. RealNccl (real_nccl.h)
// implements it with NCCL; the tests have an implementation that runs on any machine.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "parallel/transport/transport.h"
#include "runtime/dtype.h"

namespace torus::parallel {

// The id that members of a communicator share to create it (ncclUniqueId).
using NcclId = std::array<char, 128>;

// Called repeatedly while waiting for other members, with the seconds waited so far. Throws to give
// up.
using Patience = std::function<void(double waited)>;

// Work enqueued in a stream. Any thread may use it.
class NcclWork {
 public:
  virtual ~NcclWork() = default;
  // True also once its communicator has been aborted; NcclComm::Check tells the two apart.
  virtual bool Done() = 0;
  // The same for an onlooker: whether it has ended by itself.
  virtual bool Peek() { return Done(); }
  // Makes `stream` wait for this: work enqueued in it from now on runs after it.
  virtual void Precede(StreamHandle stream) = 0;
};

// One member's end of a communicator. It has its own stream, in which its work runs in order: the
// n-th operation of one member is matched with the n-th of the others. Each call returns at once;
// its work runs after `after`. Any thread may call Check.
class NcclComm {
 public:
  virtual ~NcclComm() = default;  // of one that has been aborted (NcclLibrary::Abort)
  virtual std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int peer, NcclWork& after) = 0;
  virtual std::unique_ptr<NcclWork> Recv(Buffer buffer, int peer, NcclWork& after) = 0;
  // Sums in place: f64, f32, bf16, f16, i64 or i32.
  virtual std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype, NcclWork& after) = 0;
  // Throws BrokenEnvironment, with NCCL's reason, if the communicator has failed, also while no
  // call is under way (ncclCommGetAsyncError), or was aborted.
  virtual void Check() = 0;
};

// What a communicator is for.
enum class NcclUse { kMessages, kSums };  // between its two members; of all members

// This rank's place in a communicator that it joins.
struct NcclSeat {
  NcclId id;
  int size = 0, member = 0;
  NcclUse use = NcclUse::kMessages;
};

// What NCCL leaves off by default.
struct NcclSettings {
  // Members connect for every algorithm when they join (NCCL_RUNTIME_CONNECT=0). Otherwise the
  // first sum that uses an algorithm connects within its call, which then waits for all members.
  bool connects_at_once = false;
  // Kernels of several communicators start in the order of their launches, so that launches in one
  // order on all GPUs cannot wait for each other in a circle (NCCL_LAUNCH_ORDER_IMPLICIT=1).
  bool starts_in_order = false;
};

class NcclLibrary {
 public:
  virtual ~NcclLibrary() = default;
  // To be called before the first communicator of the process is made.
  virtual void Configure(const NcclSettings& settings) = 0;
  virtual NcclId NewId() = 0;
  // Joins all these communicators as one group, in the order of the list, which may not contradict
  // that of another rank. Waits until all their members have come and are connected.
  virtual std::vector<std::unique_ptr<NcclComm>> Join(const std::vector<NcclSeat>& seats,
                                                      Device device, const Patience& patience) = 0;
  // Ends this rank's pending work in these communicators, whose buffers are no longer used then.
  // They can no longer be used; their other members are not told. They must be all of the GPU's
  // that have work: a kernel of another one would block this call.
  virtual void Abort(const std::vector<NcclComm*>& comms) noexcept = 0;
  // What `stream` holds now.
  virtual std::unique_ptr<NcclWork> Mark(Device device, StreamHandle stream) = 0;
  // Copies from `from`, on the same GPU, after `after` and after what the stream of `to` holds.
  virtual std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) = 0;
};

}  // namespace torus::parallel
