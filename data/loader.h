// Loader: makes the batches of the steps to come on threads of its own, while the ranks compute.
//
//   sampler --mini-batch--> replicas x micro-batches --workers--> window of `prefetch` mini-batches
//   --Fetch--> stages
//
// A micro-batch is made once. Every stage that needs a part of it fetches it by (step, replica,
// micro-batch): the first for its inputs, the last for its targets, on threads of their own and in
// any order within the window. When all have, it is forgotten; when all of a mini-batch is
// forgotten, the window moves on. Which worker makes what changes nothing in it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "data/batch.h"
#include "data/sampler.h"
#include "runtime/progress.h"

namespace torus::data {

struct LoaderOptions {
  int replicas = 1;
  int micro_batches = 1;            // of each replica
  std::vector<int> local_replicas;  // those fetched in this process; empty: all
  int readers = 1;   // times that each micro-batch is fetched: 2 where first and last stage both do
  int workers = 2;   // threads
  int prefetch = 2;  // mini-batches in the window, the one in use included
  int64_t steps = -1;  // mini-batches to make, from the sampler's position; -1: without end
  double timeout_seconds = 60;  // of a Fetch while no worker finishes anything
};

class Loader {
 public:
  using BatchPtr = std::shared_ptr<const Batch>;

  // Starts at once, at the sampler's position. BadInput for a count below 1 or a local replica that
  // is not one.
  Loader(Sampler sampler, MakeBatch make, LoaderOptions options);
  ~Loader();  // stops and waits for the workers: at most one micro-batch each
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The batch of one micro-batch; waits until it is made. `step` counts mini-batches over all
  // epochs from 0 (Sampler::StepOf), so that a resumed run asks for the numbers it would have asked
  // for. Adds the seconds it waited to `waited`, if given, and a "data" event to the trace.
  //
  // What failed in a worker is thrown here, its kind kept, with step, replica and micro-batch in
  // front; and again for every other reader. BadInput for a micro-batch that is not made here, is
  // beyond the last step, or was fetched by all readers. BrokenEnvironment after Stop, and after
  // `timeout_seconds` in which no worker moved: slow is not dead, and while workers move, so does
  // the waiting thread's own progress counter.
  BatchPtr Fetch(int64_t step, int replica, int micro_batch, double* waited = nullptr);

  // Ends all: wakes whoever waits, with an error, and lets the workers go. From any thread, any
  // number of times.
  void Stop();

 private:
  // One micro-batch in the window.
  struct Slot {
    bool ready = false;
    int fetched = 0;
    BatchPtr batch;               // null where it failed
    std::function<void()> raise;  // throws what failed
  };
  // One mini-batch in the window. Workers read `batch` without the lock: it does not change.
  struct Round {
    int64_t step = 0;
    MiniBatch batch;
    std::vector<Slot>
        slots;  // micro_batch * local replicas + local replica: the order in which they are needed
    size_t claimed = 0;  // slots that a worker has taken
    size_t open = 0;     // slots that not all readers have fetched
  };
  struct Task {
    Round* round;
    size_t slot;
  };

  void StopAndJoin();
  void Work();
  bool Claim(Task* task);
  void Make(const Task& task, Slot* result) const;
  MicroBatch PartOfSlot(const Round& round, size_t slot) const;
  std::string NameOf(int64_t step, int replica, int micro_batch) const;
  size_t SlotOf(int replica, int micro_batch) const;
  Slot* FindReady(int64_t step, size_t slot);
  void CheckStep(int64_t step, const std::string& name) const;
  void Await(std::unique_lock<std::mutex>& lock, int64_t step, size_t slot,
             const std::string& name);
  void Retire(int64_t step, Slot* slot);

  const LoaderOptions options_;
  const MakeBatch make_;

  std::mutex mutex_;
  std::condition_variable work_, ready_;
  Sampler sampler_;
  std::deque<Round> rounds_;  // consecutive steps
  int64_t next_step_, end_step_;
  bool stopped_ = false;
  ProgressCounter progress_{0};
  std::vector<std::thread> threads_;
};

}  // namespace torus::data
