// What training has come to, and whether two runs came to the same.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>

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
    EXPECT_EQ(ToVector<double>(a[i].value.To(DType::kF64)),
              ToVector<double>(b[i].value.To(DType::kF64)))
        << a[i].name;
  }
}

inline void ExpectEqualBits(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.state.step, b.state.step);
  ExpectEqualBits(a.state.weights, b.state.weights);
  ExpectEqualBits(a.state.optimizer, b.state.optimizer);
}

// Eight steps of a run of one stage, then wherever its four blocks are cut.
inline void ExpectEveryCutGivesTheSameBits(ToyRun run) {
  const Outcome one = TrainFor(run, 8);
  ASSERT_EQ(one.losses.size(), 8u);
  for (const Cuts& cuts : {Cuts{1}, Cuts{3}, Cuts{1, 2}, Cuts{1, 2, 3}}) {
    run.options.cuts = cuts;
    run.options.stages = static_cast<int>(cuts.size()) + 1;
    ExpectEqualBits(one, TrainFor(run, 8));
  }
}

// Eight steps of a run of one stage, then by every schedule over its four blocks.
inline void ExpectEveryScheduleGivesTheSameBits(ToyRun run, const TrainingParts& parts) {
  const Outcome one = TrainFor(run, 8, parts);
  run.options.stages = 4;
  for (const char* schedule : {"gpipe", "1f1b", "zb-h1", "u-shaped", "interleaved",
                               "zb-interleaved", "zb-v", "v-half", "v-min", "dualpipe-v"}) {
    for (const int chunks : {1, 2}) {
      if (chunks > 1 && !TakesChunks(schedule)) continue;
      SCOPED_TRACE(std::string(schedule) + ", stages a rank: " + std::to_string(chunks));
      run.options.schedule = schedule;
      run.options.chunks = chunks;
      ExpectEqualBits(one, TrainFor(run, 8, parts));
    }
  }
}

// `steps` steps; after the last of them every replica's parameters are those of the others.
inline void ExpectReplicasStayEqual(ToyRun run, int64_t steps) {
  std::mutex mutex;
  std::map<std::string, std::vector<std::vector<double>>> seen;  // last step's, by replica
  run.options.on_gradients = [&](const RankPlace&, int64_t step,
                                 const std::vector<NamedVariable>& parameters) {
    const std::lock_guard lock(mutex);
    for (const NamedVariable& p : parameters)
      if (step == steps - 1) seen[p.name].push_back(ToVector<double>(p.value.data()));
  };
  TrainFor(run, steps);
  ASSERT_EQ(seen.size(), 4u);
  for (const auto& [name, values] : seen) {
    ASSERT_EQ(values.size(), static_cast<size_t>(run.options.replicas));
    for (const std::vector<double>& other : values) EXPECT_EQ(values[0], other) << name;
  }
}

}  // namespace torus::parallel::testing
