// What training has come to, and whether two runs came to the same.
#pragma once

#include <gtest/gtest.h>

#include "tests/parallel/trainer/toy_model.h"

namespace torus::parallel::testing {

struct Outcome {
  std::vector<double> losses;
  TrainState state;
};

// Parts of the toy model's run, unless others are given.
inline Outcome TrainFor(const ToyRun& run, int64_t steps, const TrainingParts& parts) {
  Trainer trainer(run.options, parts);
  Outcome outcome;
  trainer.Train(steps, run.Batches(),
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  outcome.state = trainer.State();
  return outcome;
}

inline Outcome TrainFor(const ToyRun& run, int64_t steps) {
  return TrainFor(run, steps, run.Parts());
}

inline void ExpectEqualBits(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(ToVector<double>(a[i].value), ToVector<double>(b[i].value)) << a[i].name;
  }
}

inline void ExpectEqualBits(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.state.step, b.state.step);
  ExpectEqualBits(a.state.weights, b.state.weights);
  ExpectEqualBits(a.state.optimizer, b.state.optimizer);
}

}  // namespace torus::parallel::testing
