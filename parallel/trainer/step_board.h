// StepBoard: where the ranks of a run agree on which step is the last, and their results meet.
//
// Threads of one process share it. Only the end of a run goes through it, never a tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace torus::parallel {

// What a step of the whole run came to.
struct StepOutcome {
  int64_t step = 0;
  double loss = 0;         // mean over the global mini-batch
  int64_t samples = 0;     // of the global mini-batch
  double end_seconds = 0;  // of the steady clock, when its last rank was done
};

class StepBoard {
 public:
  struct Hooks {
    std::function<bool()> stop;                      // whether to end before the next step
    std::function<void(int64_t step)> on_begin;      // when the first rank gets to a step
    std::function<void(const StepOutcome&)> on_end;  // when the last rank has finished it, in order
  };
  StepBoard(int ranks, int replicas, int64_t begin, int64_t end, Hooks hooks);

  // Whether `step` is to be run. The first rank that asks decides for all: they all run the same
  // steps, whenever a stop is asked for.
  bool Begin(int64_t step);
  // Called by every rank. `loss` counts where `has_loss`: the ranks with the last stage. Losses are
  // summed in replica order, whoever comes first.
  void Finish(int64_t step, int replica, bool has_loss, double loss, int64_t samples);

  int64_t decided_end() const { return open_; }  // after the run: steps [begin, this) were run

 private:
  struct Entry {
    int finished = 0;
    int64_t samples = 0;
    std::vector<double> losses;  // one a replica
  };
  std::mutex mutex_;
  const int ranks_, replicas_;
  const int64_t end_;
  const Hooks hooks_;
  int64_t open_;  // steps below have been begun
  bool closed_ = false;
  std::map<int64_t, Entry> entries_;
};

}  // namespace torus::parallel
