// The micro-batches of the mini-batches that a loader currently works on: which to make next, which
// are made, and who has fetched them. It has no threads and no lock: the loader locks around every
// call.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "data/loading/batch.h"
#include "data/loading/loader_options.h"
#include "data/loading/sampler.h"

namespace torus::data {

// A micro-batch as messages name it: "step 3, replica 0, micro-batch 1".
struct MicroBatchName {
  int64_t step = 0;                  // counted over all epochs, from 0
  int replica = 0, micro_batch = 0;  // from 0
};

class BatchWindow {
 public:
  // One micro-batch. A claimed slot stays where it is until all readers have fetched it.
  struct Slot {
    int64_t step = 0;                  // as in MicroBatchName
    int replica = 0, micro_batch = 0;  // likewise
    MicroBatch part;                   // what to make
    // Written through Loader by the worker that claimed the slot:
    bool made = false;
    std::shared_ptr<const Batch> batch;  // null if making it failed
    std::function<void()> raise;         // throws the error; empty if there was none
    int fetched = 0;                     // number of readers that have fetched it
  };

  // Starts at the sampler's position. `options` must come from Checked.
  BatchWindow(Sampler sampler, LoaderOptions options);

  // The next slot to make, in the order in which they are needed: by step, micro-batch, replica.
  // Null while the window is full and after the last step.
  Slot* Claim();
  // Finds a slot; null while its mini-batch is beyond the window. Throws BadInput if the
  // micro-batch is not made in this process, is of a step after the last, or was fetched by all
  // readers.
  Slot* Find(int64_t step, int replica, int micro_batch);
  // Records that one more reader has the slot. A slot is removed when all readers have it, and a
  // mini-batch when all its slots are; then the window moves on. Returns whether it moved.
  bool Fetched(Slot* slot);

 private:
  // A mini-batch in the window.
  struct Round {
    std::vector<Slot> slots;  // [micro_batch][local replica]
    size_t claimed = 0;
    size_t open = 0;  // slots that not all readers have fetched
  };

  Round MakeRound();
  void CheckStep(const MicroBatchName& name) const;
  size_t IndexOf(int replica, int micro_batch) const;

  const LoaderOptions options_;
  Sampler sampler_;
  std::deque<Round> rounds_;  // of steps first_step_, first_step_ + 1, ...
  int64_t first_step_, end_step_;
};

}  // namespace torus::data

template <>
struct fmt::formatter<torus::data::MicroBatchName> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::data::MicroBatchName& name, Context& context) const {
    return fmt::format_to(context.out(), "step {}, replica {}, micro-batch {}", name.step,
                          name.replica, name.micro_batch);
  }
};
