// A small GPT-2 in the trainer: token numbers go in, a mask crosses the cuts beside the
// activations, and the embedding's weight is the head's too. Every cut gives the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "models/gpt2/gpt2.h"
#include "ops/loss/cross_entropy.h"
#include "ops/view/view.h"
#include "parallel/optim/sgd.h"
#include "parallel/trainer/trainer.h"
#include "recipes/model/model_blocks.h"
#include "runtime/rng.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words

constexpr int64_t kVocabulary = 29, kTokens = 7, kRows = 6;
constexpr int kMicroBatches = 3;

std::vector<Block> Blocks(bool recompute) {
  const auto model = Gpt2(
      {.vocab_size = kVocabulary, .n_positions = kTokens, .n_embd = 16, .n_layer = 2, .n_head = 2});
  model->Initialize(3);
  std::vector<Block> blocks = ModelBlocks(*model);
  for (Block& block : blocks) block.recompute = recompute;
  return blocks;
}

// Rows of numbers; the end of every second one is padding.
MicroBatch MakePart(int64_t step, int m) {
  constexpr int64_t kPart = kRows / kMicroBatches;
  MicroBatch part;
  Tensor ids({kPart, kTokens}, DType::kI64), mask({kPart, kTokens}, DType::kI64);
  Tensor next({kPart * kTokens}, DType::kI64);
  for (int64_t r = 0; r < kPart; ++r) {
    part.samples.push_back(m * kPart + r);
    for (int64_t t = 0; t < kTokens; ++t) {
      const int64_t i = r * kTokens + t, number = step + 5 * part.samples.back() + 3 * t;
      ids.mutable_data<int64_t>()[i] = number % kVocabulary;
      mask.mutable_data<int64_t>()[i] = r % 2 == 0 || t < kTokens - 2;
      next.mutable_data<int64_t>()[i] = (number + 3) % kVocabulary;
    }
  }
  part.inputs = {ids, mask};
  part.targets = {next};
  return part;
}

TrainingParts Parts(bool recompute) {
  TrainingParts parts;
  parts.model = [=] { return Blocks(recompute); };
  parts.loss = [](const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
    const Variable rows = ops::Reshape(outputs[0], {targets[0].dim(0), kVocabulary});
    return ops::CrossEntropy(rows, Variable(targets[0]));
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{.momentum = 0.9});
  };
  parts.learning_rate = [](int64_t) { return 0.1; };
  const Shape input{kRows / kMicroBatches, kTokens};
  parts.largest_inputs = {{input, DType::kI64}, {input, DType::kI64}};
  return parts;
}

struct Outcome {
  std::vector<double> losses;
  TrainState state;
};

Outcome Train(const Cuts& cuts, bool recompute = false) {
  Trainer trainer({.stages = static_cast<int>(cuts.size()) + 1,
                   .cuts = cuts,
                   .micro_batches = kMicroBatches,
                   .seed = 5,
                   .clip_norm = 1},
                  Parts(recompute));
  Outcome outcome;
  const BatchFn batches = [](int64_t step, const RankPlace&) {
    MiniBatch batch{.global_samples = kRows};
    for (int m = 0; m < kMicroBatches; ++m) batch.micro_batches.push_back(MakePart(step, m));
    return batch;
  };
  trainer.Train(20, batches,
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  outcome.state = trainer.State();
  return outcome;
}

void ExpectEqualBits(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    ASSERT_EQ(a[i].value.bytes(), b[i].value.bytes());
    EXPECT_EQ(std::memcmp(a[i].value.raw(), b[i].value.raw(), a[i].value.bytes()), 0) << a[i].name;
  }
}

void ExpectSame(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  ExpectEqualBits(a.state.weights, b.state.weights);
  ExpectEqualBits(a.state.optimizer, b.state.optimizer);
}

TEST(Gpt2, EveryCutGivesTheSameBits) {
  const Outcome one = Train({});
  ASSERT_EQ(one.losses.size(), 20u);
  EXPECT_LT(one.losses.back(), 0.9 * one.losses.front());
  for (const NamedTensor& tensor : one.state.weights) EXPECT_NE(tensor.name, "lm_head.weight");
  for (const Cuts& cuts : {Cuts{1}, Cuts{2}, Cuts{4}, Cuts{1, 4}, Cuts{1, 2, 3, 4}})
    ExpectSame(one, Train(cuts));
}

TEST(Gpt2, RecomputedActivationsGiveTheSameBits) {
  const Outcome kept = Train({});
  ExpectSame(kept, Train({}, true));
  ExpectSame(kept, Train({2}, true));
}

}  // namespace
}  // namespace torus::recipes
