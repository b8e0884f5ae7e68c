// Loader: makes the batches of coming steps on its own threads, while the ranks compute.
//
//   sampler -> mini-batch -> replicas x micro-batches -> workers -> window -> Fetch -> stages
//
// Each micro-batch is made once. Every stage that needs a part of it fetches it by (step, replica,
// micro-batch): the first stage for its inputs, the last for its targets, on their own threads and
// in any order within the window of `prefetch` mini-batches. Which worker makes a micro-batch does
// not change its contents.
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
  // What Fetch gives, shared by all readers of a micro-batch.
  using BatchPtr = std::shared_ptr<const Batch>;

  // Starts at once, at the sampler's position. Throws BadInput for the options like Checked.
  Loader(Sampler sampler, MakeBatch make, LoaderOptions options);
  ~Loader();  // stops, and waits for the workers to finish at most one micro-batch each
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Returns the batch of one micro-batch; waits until it is made. `step` counts mini-batches over
  // all epochs from 0 (Sampler::StepOf), so a resumed run uses the same numbers as an uninterrupted
  // one. Adds the seconds it waited to `waited`, if given, and records a "data" event in the trace.
  //
  // An exception in a worker is rethrown here with the same kind, with step, replica and
  // micro-batch in front of its message, and again for every other reader. If a worker lacks the
  // memory even for that message, the loader stops, and every Fetch throws std::bad_alloc. Throws
  // BadInput for a micro-batch that is not made in this process, is beyond the last step, or was
  // fetched by all readers. Throws BrokenEnvironment after Stop, and after `timeout_seconds`
  // without progress of any worker. While workers progress, the waiting thread's progress counter
  // ticks too, so it is not taken for dead.
  BatchPtr Fetch(int64_t step, int replica, int micro_batch, double* waited = nullptr);

  // Stops the loader: every waiting Fetch throws, and the workers end. May be called from any
  // thread, any number of times.
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

  std::mutex mutex_;  // guards the members below
  std::condition_variable work_, made_;
  BatchWindow window_;
  bool stopped_ = false;
  std::exception_ptr failure_;  // of a worker outside of a micro-batch; every Fetch throws it
  std::vector<std::thread> threads_;
};

}  // namespace torus::data
