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
  virtual bool Done() = 0;
  // Work put into `stream` from now on comes behind this.
  virtual void Precede(StreamHandle stream) = 0;
};

// One member's part of a communicator, with a stream of its own in which its work runs in order:
// the n-th of one member meets the n-th of the others. Each call returns at once; its work comes
// behind what the buffer's stream holds.
class NcclComm {
 public:
  virtual ~NcclComm() = default;  // as Abort
  virtual std::unique_ptr<NcclWork> Send(ConstBuffer buffer, int peer) = 0;
  virtual std::unique_ptr<NcclWork> Recv(Buffer buffer, int peer) = 0;
  // Sums in place. BadInput for a dtype that NCCL does not sum.
  virtual std::unique_ptr<NcclWork> AllReduce(Buffer buffer, DType dtype) = 0;
  // Throws BrokenEnvironment with NCCL's reason once the communicator has failed.
  virtual void Check() = 0;
  // Ends work that has not ended; its buffers are used no more. The communicator is of no more use.
  virtual void Abort() noexcept = 0;
};

class NcclLibrary {
 public:
  virtual ~NcclLibrary() = default;
  virtual NcclId NewId() = 0;
  // Waits until all `size` members have called it, and are connected.
  virtual std::unique_ptr<NcclComm> Join(const NcclId& id, int size, int rank, Device device,
                                         const Patience& patience) = 0;
  // Copies from `from`, of the same GPU, behind `after` and what the stream of `to` holds.
  virtual std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) = 0;
};

}  // namespace torus::parallel
