// Loader: makes the batches of the steps to come on threads of its own, while the ranks compute.
//
//   sampler -> mini-batch -> replicas x micro-batches -> workers -> window -> Fetch -> stages
//
// A micro-batch is made once. Every stage that needs a part of it fetches it by (step, replica,
// micro-batch): the first for its inputs, the last for its targets, on threads of their own and in
// any order within the window of `prefetch` mini-batches. Which worker makes what changes nothing
// in it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/loading/batch.h"
#include "data/loading/batch_window.h"
#include "data/loading/loader_options.h"
#include "data/loading/sampler.h"
#include "runtime/progress.h"

namespace torus::data {

class Loader {
 public:
  using BatchPtr = std::shared_ptr<const Batch>;

  // Starts at once, at the sampler's position. BadInput as Checked gives for the options.
  Loader(Sampler sampler, MakeBatch make, LoaderOptions options);
  ~Loader();  // stops and waits for the workers: at most one micro-batch each
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The batch of one micro-batch; waits until it is made. `step` counts mini-batches over all
  // epochs from 0 (Sampler::StepOf), so that a resumed run asks for the numbers it would have asked
  // for. Adds the seconds it waited to `waited`, if given, and a "data" event to the trace.
  //
  // What failed in a worker is thrown here, its kind kept, with step, replica and micro-batch in
  // front; and again for every other reader. A worker without memory even for that message ends the
  // loader: then std::bad_alloc.
  // BadInput for a micro-batch that is not made here, is beyond the last step, or was fetched by
  // all readers. BrokenEnvironment after Stop, and after `timeout_seconds` in which no worker
  // moved: slow is not dead, and while workers move, so does the waiting thread's own progress
  // counter.
  BatchPtr Fetch(int64_t step, int replica, int micro_batch, double* waited = nullptr);

  // Ends all: wakes whoever waits, with an error, and lets the workers go. From any thread, any
  // number of times.
  void Stop();

 private:
  using Slot = BatchWindow::Slot;

  void StopAndJoin();
  void Work();
  void Make(const Slot& slot, Slot* result) const;
  Slot* Await(std::unique_lock<std::mutex>& lock, int64_t step, int replica, int micro_batch);

  const LoaderOptions options_;
  const MakeBatch make_;
  ProgressCounter progress_;  // of all workers

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_, made_;
  BatchWindow window_;
  bool stopped_ = false;
  std::exception_ptr failure_;  // of a worker, outside of a micro-batch; every Fetch throws it
  std::vector<std::thread> threads_;
};

}  // namespace torus::data
