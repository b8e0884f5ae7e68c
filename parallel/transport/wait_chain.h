// WaitChain: which rank waits for which, and whether the ranks at the other end make progress.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "runtime/progress.h"

namespace torus::parallel {

// Any thread may tick a progress counter; for everything else the caller holds a lock.
class WaitChain {
 public:
  explicit WaitChain(int ranks) : ranks_(ranks) {}

  ProgressCounter& progress(int rank) { return ranks_[rank].progress; }
  const ProgressCounter& progress(int rank) const { return ranks_[rank].progress; }

  // `rank` waits for `peer`; `what` says for what.
  void Begin(int rank, int peer, const std::string& what);
  void End(int rank);

  // The progress counter of every rank, for Moved.
  std::vector<uint64_t> Look() const;
  // Whether any rank that `rank` waits for, directly or through other ranks, has made progress
  // since `before`, an earlier result of Look. Ranks that wait for each other in a cycle make none.
  bool Moved(int rank, const std::vector<uint64_t>& before) const;

  // For errors: "rank 2 waits for rank 3 (gradient of ...); rank 3 shows no progress", or that the
  // ranks wait for each other.
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
