// Engine: collectives that the library under a transport has of its own (MPI_Allreduce,
// ncclAllReduce).
#pragma once

#include <string>

#include "parallel/transport/transport.h"
#include "runtime/dtype.h"

namespace torus::parallel {

class Engine {
 public:
  virtual ~Engine() = default;
  // Starts the sum over all members, in place; every member calls it with buffers of one size and
  // dtype (f64, f32, i64 or i32), in the same order as the engine's other calls. Deadline, errors
  // and `what` are those of Transport::Send. The order of sums is the library's: ranks may end with
  // other bits than by any algorithm of ours.
  [[nodiscard]] virtual Pending AllReduce(Buffer data, DType dtype, std::string what) = 0;
};

}  // namespace torus::parallel
