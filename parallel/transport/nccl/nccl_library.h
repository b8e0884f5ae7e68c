// What the NCCL transport asks of NCCL and of CUDA. RealNccl (real_nccl.h) is NCCL; the tests have
// a library of their own that runs on any machine.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "parallel/transport/transport.h"
#include "runtime/dtype.h"

namespace torus::parallel {

// What the members of a communicator must have in common to make it (ncclUniqueId).
using NcclId = std::array<char, 128>;

// Called again and again by what waits for other members, with the seconds waited so far; throws to
// give up.
using Patience = std::function<void(double waited)>;

// Work that was put into a stream.
class NcclWork {
 public:
  virtual ~NcclWork() = default;
  // Also once its communicator has been aborted: NcclComm::Check says whether it has.
  virtual bool Done() = 0;
  // Work put into `stream` from now on comes behind this.
  virtual void Precede(StreamHandle stream) = 0;
};

// One member's part of a communicator, with a stream of its own in which its work runs in order:
// the n-th of one member meets the n-th of the others. Each call returns at once; its work comes
// behind what the buffer's stream holds. Check and Abort may be called by any thread.
class NcclComm {
 public:
  virtual ~NcclComm() = default;  // as Abort
  virtual std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int peer) = 0;
  virtual std::unique_ptr<NcclWork> Recv(Buffer buffer, int peer) = 0;
  // Sums in place. BadInput for a dtype that NCCL does not sum.
  virtual std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype) = 0;
  // Throws BrokenEnvironment with NCCL's reason once the communicator has failed, or was aborted.
  virtual void Check() = 0;
  // Ends this member's work that has not ended; its buffers are used no more. The communicator is
  // of no more use, and its other members are not told.
  virtual void Abort() noexcept = 0;
};

// What a communicator is for.
enum class NcclUse { kMessages, kSums };  // from member 0 to member 1; of all members

class NcclLibrary {
 public:
  virtual ~NcclLibrary() = default;
  virtual NcclId NewId() = 0;
  // Waits until all `size` members have called it, and are connected for that use: from then on
  // no call waits for another member.
  virtual std::unique_ptr<NcclComm> Join(const NcclId& id, int size, int rank, Device device,
                                         NcclUse use, const Patience& patience) = 0;
  // Copies from `from`, of the same GPU, behind `after` and what the stream of `to` holds.
  virtual std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) = 0;
};

}  // namespace torus::parallel
