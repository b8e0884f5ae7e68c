// Ranks as threads of one process. The receiver copies straight from the sender's buffer: no
// thread, no queue of bytes.
//
// Deadlines. A wait fails when `timeout` has passed without a sign of life. Rank r waiting for p
// looks along the chain of waits, p, the rank that p waits for, and so on; each renews r's deadline
// while its progress counter moves (runtime/progress.h: every op of autograd and every action
// ticks). So a slow stage far down the pipeline keeps all who depend on it alive, while ranks that
// wait for each other in a ring have nobody left who ticks, and time out.
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
  // The end of `rank`; lives as long as the world.
  Transport& transport(int rank);
  // To be attached to the rank's thread (SetProgressCounter); RunRanks does.
  ProgressCounter& progress(int rank);

  // As Transport::Abort, for `rank` (-1: nobody in particular).
  void Abort(int rank, const std::string& reason);
  bool aborted() const;
  int aborted_by() const;  // the rank that failed first; -1: none, or nobody in particular
  uint64_t BytesSent(int from, int to, TagClass kind) const;

 private:
  std::unique_ptr<InProcessState> state_;
};

}  // namespace torus::parallel
