// WaitChain: who waits for whom, and whether anybody at the end of a chain of waits still moves.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "runtime/progress.h"

namespace torus::parallel {

// Progress counters may be ticked by any thread; for the rest its owner holds the lock.
class WaitChain {
 public:
  explicit WaitChain(int ranks) : ranks_(ranks) {}

  ProgressCounter& progress(int rank) { return ranks_[rank].progress; }
  const ProgressCounter& progress(int rank) const { return ranks_[rank].progress; }

  // `rank` waits for `peer`; `what` says for what.
  void Begin(int rank, int peer, const std::string& what);
  void End(int rank);

  // Every counter, to be compared later.
  std::vector<uint64_t> Look() const;
  // Whether any rank that `rank` waits for, at first or further hand, has moved since `before`.
  // Ranks that wait for each other in a ring do not move, so nobody who hangs on them is told that
  // they live.
  bool Moved(int rank, const std::vector<uint64_t>& before) const;

  // "rank 2 waits for rank 3 (gradient of ...), which shows no progress", or that the ranks wait
  // for each other.
  std::string Describe(int rank) const;

 private:
  struct Rank {
    ProgressCounter progress;
    int peer = -1;  // -1: does not wait
    std::string what;
  };
  // The ranks that `rank` waits for, nearest first, each once.
  std::vector<int> Chain(int rank) const;

  std::deque<Rank> ranks_;
};

}  // namespace torus::parallel
