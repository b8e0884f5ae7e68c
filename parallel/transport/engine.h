// Engine: the collectives of the library that a transport is built on (MPI_Allreduce,
// ncclAllReduce).
#pragma once

#include <string>

#include "parallel/transport/transport.h"
#include "runtime/dtype.h"

namespace torus::parallel {

// What each of `members` sends the next one when they sum `bytes` around a ring.
inline uint64_t RingBytes(size_t members, size_t bytes) {
  return members < 2 ? 0 : 2 * (members - 1) * bytes / members;
}

class Engine {
 public:
  virtual ~Engine() = default;
  // Starts an in-place sum over all members. Every member calls it with a buffer of the same size
  // and dtype (f64, f32, i64 or i32), in the same order as its other calls of this engine.
  // Deadline, errors and `what` are those of Transport::Send. The library chooses the order of the
  // sum, so the bits may differ from those of the algorithms in collectives/.
  [[nodiscard]] virtual Pending AllReduce(Buffer data, DType dtype, std::string what) = 0;
};

}  // namespace torus::parallel
