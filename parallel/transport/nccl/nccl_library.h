// The interface through which the NCCL transport uses NCCL and CUDA. RealNccl (real_nccl.h)
// implements it with NCCL; the tests have an implementation that runs on any machine.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "parallel/transport/transport.h"
#include "runtime/dtype.h"

namespace torus::parallel {

// The id that members of a communicator share to create it (ncclUniqueId).
using NcclId = std::array<char, 128>;

// Called repeatedly while waiting for other members, with the seconds waited so far. Throws to give
// up.
using Patience = std::function<void(double waited)>;

// Work enqueued in a stream.
class NcclWork {
 public:
  virtual ~NcclWork() = default;
  // True also once its communicator has been aborted; NcclComm::Check tells the two apart.
  virtual bool Done() = 0;
  // Makes `stream` wait for this: work enqueued in it from now on runs after it.
  virtual void Precede(StreamHandle stream) = 0;
};

// One member's end of a communicator. It has its own stream, in which its work runs in order: the
// n-th operation of one member is matched with the n-th of the others. Each call returns at once;
// its work runs after what the buffer's stream already holds. Any thread may call Check and Abort.
class NcclComm {
 public:
  virtual ~NcclComm() = default;  // as Abort
  virtual std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int peer) = 0;
  virtual std::unique_ptr<NcclWork> Recv(Buffer buffer, int peer) = 0;
  // Sums in place. Throws BadInput if NCCL does not sum that dtype.
  virtual std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype) = 0;
  // Throws BrokenEnvironment, with NCCL's reason, if the communicator has failed or was aborted.
  virtual void Check() = 0;
  // Ends this member's pending work, whose buffers are no longer used then. The communicator can no
  // longer be used. Its other members are not told.
  virtual void Abort() noexcept = 0;
};

// What a communicator is for.
enum class NcclUse { kMessages, kSums };  // from member 0 to member 1; of all members

class NcclLibrary {
 public:
  virtual ~NcclLibrary() = default;
  virtual NcclId NewId() = 0;
  // Waits until all `size` members have called it and are connected for `use`. After that no call
  // waits for another member.
  virtual std::unique_ptr<NcclComm> Join(const NcclId& id, int size, int rank, Device device,
                                         NcclUse use, const Patience& patience) = 0;
  // Copies from `from`, on the same GPU, after `after` and after what the stream of `to` holds.
  virtual std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) = 0;
};

}  // namespace torus::parallel
