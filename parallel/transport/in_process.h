// The transport between ranks that are threads of one process. The receiver copies straight from
// the sender's buffer.
//
// Deadlines. A wait fails after `timeout` seconds without progress. When rank r waits for rank p,
// progress is that of p, of the rank that p waits for, and so on: each has a counter, which every
// op of autograd and every action of a schedule increments (runtime/progress.h), and a change of
// any of these counters renews r's deadline. So a slow stage fails nobody, however far down the
// pipeline it is, while ranks that wait for each other in a cycle time out.
//
// After an abort a rank stops at its next wait or tick, so in the middle of a stage's forward too.
#pragma once

#include <memory>
#include <string>

#include "parallel/transport/transport.h"
#include "runtime/progress.h"

namespace torus::parallel {

inline constexpr double kLongestTimeout = 1e8;  // seconds: clocks count nanoseconds in 64 bits

struct InProcessOptions {
  double timeout = 60;  // seconds without progress until a wait fails, at most kLongestTimeout
};

struct InProcessState;

class InProcessWorld {
 public:
  // BadInput below one rank or for a timeout that is not above 0 and at most kLongestTimeout.
  explicit InProcessWorld(int size, InProcessOptions options = {});
  ~InProcessWorld();
  InProcessWorld(const InProcessWorld&) = delete;
  InProcessWorld& operator=(const InProcessWorld&) = delete;

  int size() const;
  double timeout() const;
  // The transport that `rank` uses; lives as long as the world.
  Transport& transport(int rank);
  // To be attached to the rank's thread (SetProgressCounter); RunRanks does.
  ProgressCounter& progress(int rank);

  // As Transport::Abort of `rank`; -1: for a reason that is of no one rank.
  void Abort(int rank, const std::string& reason);
  bool aborted() const;
  int aborted_by() const;  // the `rank` of the first Abort; -1 also before any
  uint64_t BytesSent(int from, int to, TagClass kind) const;

 private:
  std::unique_ptr<InProcessState> state_;
};

}  // namespace torus::parallel
