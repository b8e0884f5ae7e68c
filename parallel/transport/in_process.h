// InProcessWorld: the transport between ranks that are threads of one process. The receiver copies
// directly from the sender's buffer.
//
// Deadlines. A wait fails after `timeout` seconds without progress. Each rank has a progress
// counter, which every autograd op and every action of a schedule increments (runtime/progress.h).
// While rank r waits for rank p, any change of p's counter renews r's deadline, and so does a
// change of the counter of the rank that p waits for, and so on. So a slow stage makes no rank
// fail, however far down the pipeline it is, while ranks that wait for each other in a cycle time
// out.
//
// After an abort a rank stops at its next wait or progress tick, so also in the middle of a stage's
// forward.
#pragma once

#include <memory>
#include <string>

#include "parallel/transport/transport.h"
#include "runtime/progress.h"

namespace torus::parallel {

inline constexpr double kLongestTimeout = 1e8;  // seconds: clocks count nanoseconds in 64 bits

// The deadline of waits.
struct InProcessOptions {
  double timeout = 60;  // seconds without progress until a wait fails, at most kLongestTimeout
};

struct InProcessState;

// A handle: copies are the same world, which lasts until the last of them is gone.
class InProcessWorld {
 public:
  // Throws BadInput if `size` is below 1, or the timeout is not above 0 and at most
  // kLongestTimeout.
  explicit InProcessWorld(int size, InProcessOptions options = {});

  int size() const;        // ranks
  double timeout() const;  // seconds
  // The transport that `rank` uses; lives as long as the world.
  Transport& transport(int rank);
  // The counter to attach to the rank's thread (SetProgressCounter); RunRanks does so.
  ProgressCounter& progress(int rank);

  // As Transport::Abort called by `rank`; -1 if no single rank is the cause.
  void Abort(int rank, const std::string& reason);
  bool aborted() const;    // whether Abort was called
  int aborted_by() const;  // `rank` of the first Abort; -1 before any
  // Payload bytes from one rank to another that have arrived so far.
  uint64_t BytesSent(int from, int to, TagClass kind) const;

 private:
  std::shared_ptr<InProcessState> state_;
};

}  // namespace torus::parallel
