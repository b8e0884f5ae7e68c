// StepBoard: here the ranks of a run agree which step is the last, and their losses are added up.
//
// The ranks' threads share one object. It holds no tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace torus::parallel {

// The result of a step of the whole run.
struct StepOutcome {
  int64_t step = 0;
  double loss = 0;         // mean over the global mini-batch
  int64_t samples = 0;     // of the global mini-batch
  bool skipped = false;    // loss or gradients were not finite, and nothing was changed
  double end_seconds = 0;  // of the steady clock, when its last rank was done
};

// What one rank reports of a step that it has finished.
struct RankOutcome {
  int replica = 0;
  bool has_loss = false;  // it has the last stage
  double loss = 0;
  int64_t samples = 0;   // of the global mini-batch
  bool skipped = false;  // the same on all ranks
};

class StepBoard {
 public:
  struct Hooks {
    std::function<bool()> stop;                      // whether to end before the next step
    std::function<void(int64_t step)> on_begin;      // when the first rank gets to a step
    std::function<void(const StepOutcome&)> on_end;  // when the last rank has finished it, in order
  };
  // Steps [begin, end) at most; ends early after `max_skipped` skipped steps in a row, of which
  // `skipped` came right before `begin`.
  struct Span {
    int64_t begin = 0, end = 0;
    int max_skipped = 1, skipped = 0;
  };
  StepBoard(int ranks, int replicas, Span span, Hooks hooks);

  // Whether `step` is to be run. The first rank that asks decides for all: they all run the same
  // steps, whenever a stop is asked for.
  bool Begin(int64_t step);
  // Called by every rank. Losses are summed in replica order, whoever comes first.
  void Finish(int64_t step, const RankOutcome& outcome);

  // After the run.
  int64_t decided_end() const { return open_; }  // steps [begin, this) were run
  int skipped() const { return skipped_; }       // in a row, up to the last step

 private:
  struct Entry {
    int finished = 0;
    int64_t samples = 0;
    bool skipped = false;
    std::vector<double> losses;  // one a replica
  };
  std::mutex mutex_;
  const int ranks_, replicas_;
  const Span span_;
  const Hooks hooks_;
  int64_t open_;  // steps below have been begun
  int skipped_;   // in a row
  bool closed_ = false;
  std::map<int64_t, Entry> entries_;
};

}  // namespace torus::parallel
