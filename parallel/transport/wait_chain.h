// WaitChain: which rank waits for which, and whether the ranks at the other end make progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
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
  int peer(int rank) const { return ranks_[rank].peer; }  // -1: it waits for nobody
  const std::string& what(int rank) const { return ranks_[rank].what; }

  // The progress counter of every rank, for Moved.
  std::vector<uint64_t> Look() const;
  // Whether any rank that `rank` waits for, directly or through other ranks, has made progress
  // since `before`, an earlier result of Look. Ranks that wait for each other in a cycle make none.
  bool Moved(int rank, const std::vector<uint64_t>& before) const;

  // Where `rank` runs, for Describe: "host a".
  void SetPlace(int rank, std::string place) { ranks_[rank].place = std::move(place); }
  // The text for errors: "rank 2 waits for rank 3 (gradient of ...); rank 3 shows no progress (host
  // a)", or that the ranks wait for each other.
  std::string Describe(int rank) const;

 private:
  struct Rank {
    ProgressCounter progress;
    int peer = -1;  // -1: does not wait
    std::string what, place;
  };
  // The ranks that `rank` waits for, nearest first, each once.
  std::vector<int> Chain(int rank) const;

  std::deque<Rank> ranks_;
};

// The deadline of a wait of `rank`, renewed by progress of the ranks that it waits for. Used under
// the chain's lock, between Begin and End.
class ChainDeadline {
 public:
  using Clock = std::chrono::steady_clock;
  // `timeout` in seconds, from `now` on.
  ChainDeadline(const WaitChain& chain, int rank, double timeout, Clock::time_point now);

  // When to call Passed again, at the latest.
  Clock::time_point next_look() const { return look_; }
  // Whether the timeout has passed without progress. If a call comes late by more than the interval
  // between two looks, the delay is not counted: this process itself was stopped then, perhaps with
  // the others, and has not seen what they did since.
  bool Passed(Clock::time_point now);

 private:
  const WaitChain& chain_;
  const int rank_;
  const Clock::duration timeout_, slice_;
  Clock::time_point deadline_, look_;
  std::vector<uint64_t> seen_;
};

}  // namespace torus::parallel
