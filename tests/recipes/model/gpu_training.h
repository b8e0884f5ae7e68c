// Training steps of small models on GPUs, and what their outcomes are held against.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "parallel/optim/adam.h"
#include "parallel/transport/world.h"
#include "tests/recipes/model/small_models.h"

namespace torus::recipes::testing {

using namespace parallel;  // NOLINT: the trainer's words

inline constexpr int64_t kSteps = 3;  // the last of fewer rows
inline constexpr double kRate = 1e-3;
inline constexpr float kRounding = std::numeric_limits<float>::epsilon();  // relative, of f32

// Moves every weight by `noise` of itself, up or down.
inline void AddNoise(float noise, std::vector<Block>& blocks) {
  uint64_t number = 0;
  for (Block& block : blocks)
    for (NamedVariable& parameter : block.parameters) {
      Tensor& values = parameter.value.mutable_data();
      Tensor signs = Empty(values.shape());
      FillUniform(signs, -1, 1, RandomStream({.seed = 11, .step = number++}));
      for (int64_t i = 0; i < values.numel(); ++i)
        values.mutable_data<float>()[i] *= 1 + std::copysign(noise, signs.data<float>()[i]);
    }
}

// What differs of a training beside its options.
struct Setup {
  float noise = 0;
  Precision precision;
  const TrainState* begin = nullptr;  // a state to go on from
  int64_t end = kSteps;
  World* world = nullptr;  // null for threads
  std::function<void(int64_t step)> on_step = {};
  decltype(TrainingParts::optimizer) optimizer = {};          // else Adam
  decltype(TrainingParts::learning_rate) learning_rate = {};  // else kRate
};

inline TrainingParts PartsOf(const Kind& kind, const Setup& setup) {
  TrainingParts parts;
  parts.model = [&kind, setup] {
    std::vector<Block> blocks = BlocksOf(kind, false);
    for (Block& block : blocks) block.precision = setup.precision;
    if (setup.noise > 0) AddNoise(setup.noise, blocks);
    return blocks;
  };
  parts.loss = [&kind, setup](const auto& outputs, const auto& targets) {
    const WithPrecision with(setup.precision);
    return kind.loss(outputs, targets[0]);
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Adam>(std::move(parameters),
                                  AdamOptions{.eps = 1e-3, .weight_decay = 0.01});
  };
  parts.learning_rate = [](int64_t) { return kRate; };
  if (setup.optimizer) parts.optimizer = setup.optimizer;
  if (setup.learning_rate) parts.learning_rate = setup.learning_rate;
  parts.largest_inputs = InputsOf(kind);
  return parts;
}

struct Outcome {
  std::vector<double> losses;
  TrainState state;
  double evaluated = 0;
  TrainTotals totals;
};

inline Outcome Train(const Kind& kind, TrainerOptions options, const Setup& setup = {}) {
  options.seed = 5;
  const TrainingParts parts = PartsOf(kind, setup);
  const auto made = setup.world != nullptr ? std::make_unique<Trainer>(*setup.world, options, parts)
                                           : std::make_unique<Trainer>(options, parts);
  Trainer& trainer = *made;
  if (setup.begin != nullptr) trainer.SetState(*setup.begin);
  const BatchFn batches = [&](int64_t step, const RankPlace& place) {
    const int64_t rows = RowsOf(step), first = rows * place.replica / options.replicas,
                  last = rows * (place.replica + 1) / options.replicas;
    return BatchOf(kind, step, first, last, options.micro_batches, rows);
  };
  Outcome outcome;
  trainer.Train(setup.end, batches, {.on_step = [&](const StepReport& r) {
                  outcome.losses.push_back(r.loss);
                  if (setup.on_step) setup.on_step(r.step);
                }});
  outcome.evaluated = trainer.Evaluate(1, batches).loss;
  outcome.state = trainer.State();
  outcome.totals = trainer.totals();
  return outcome;
}

// Of all weights together.
inline double Distance(const TrainState& a, const TrainState& b) {
  double squares = 0;
  for (size_t i = 0; i < a.weights.size(); ++i) {
    EXPECT_EQ(a.weights[i].name, b.weights[i].name);
    const auto x = ToVector<double>(a.weights[i].value.To(DType::kF64)),
               y = ToVector<double>(b.weights[i].value.To(DType::kF64));
    for (size_t e = 0; e < x.size(); ++e) squares += (x[e] - y[e]) * (x[e] - y[e]);
  }
  return std::sqrt(squares);
}

inline double LossDistance(const Outcome& a, const Outcome& b) {
  double largest = std::fabs(a.evaluated - b.evaluated);
  for (size_t i = 0; i < a.losses.size(); ++i)
    largest = std::max(largest, std::fabs(a.losses[i] - b.losses[i]));
  return largest;
}

// A step rounds each value a few times where the noise does it once, in every layer.
inline constexpr double kRoundings = 32;

inline void ExpectSameUpToRounding(const Outcome& gpu, const Outcome& cpu, const Outcome& noisy) {
  ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
  const double rounding = kRounding * cpu.losses[0];
  EXPECT_LE(LossDistance(gpu, cpu), kRoundings * (LossDistance(noisy, cpu) + rounding));
  EXPECT_LE(Distance(gpu.state, cpu.state), kRoundings * Distance(noisy.state, cpu.state));
}

inline void ExpectSameBits(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.evaluated, b.evaluated);
  for (auto list : {&TrainState::weights, &TrainState::optimizer, &TrainState::averages}) {
    const std::vector<NamedTensor>&x = a.state.*list, &y = b.state.*list;
    ASSERT_EQ(x.size(), y.size());
    for (const NamedTensor& tensor : x) {
      const auto same = std::ranges::find(y, tensor.name, &NamedTensor::name);
      ASSERT_NE(same, y.end()) << tensor.name;
      EXPECT_EQ(tensor.value.device(), Device{});
      EXPECT_EQ(std::memcmp(tensor.value.raw(), same->value.raw(), tensor.value.bytes()), 0)
          << tensor.name;
    }
  }
}

}  // namespace torus::recipes::testing
