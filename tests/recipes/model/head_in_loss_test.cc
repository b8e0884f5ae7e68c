// Language models that leave their head to the loss, small, in the trainer: every cut gives the
// same bits, also where the head's weight is the embedding's and both lie in one stage.
#include <gtest/gtest.h>

#include <cstring>

#include "models/gpt2/gpt2.h"
#include "models/gpt3/gpt3.h"
#include "models/nn/loss.h"
#include "models/roberta/roberta.h"
#include "parallel/optim/sgd.h"
#include "parallel/trainer/trainer.h"
#include "recipes/model/model_blocks.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words

using Model = std::shared_ptr<nn::Sequential>;

constexpr int64_t kVocabulary = 29, kTokens = 7, kRows = 6, kPart = 2, kSteps = 15;
constexpr int kMicroBatches = 3;

struct Kind {
  std::string name;
  Model (*make)();
  Variable (*loss)(const std::vector<Variable>& outputs, const Tensor& targets);
};

Model SmallGpt2() {
  return Gpt2({.vocab_size = kVocabulary,
               .n_positions = kTokens,
               .n_embd = 16,
               .n_layer = 2,
               .n_head = 2,
               .head_in_loss = true});
}

Model SmallGpt3() {
  return Gpt3({.vocab_size = kVocabulary,
               .positions = kTokens,
               .width = 16,
               .layers = 2,
               .heads = 2,
               .head = Gpt3Head::kLm,
               .head_in_loss = true});
}

Model SmallRoberta() {
  return Roberta({.vocab_size = kVocabulary,
                  .hidden_size = 16,
                  .num_hidden_layers = 2,
                  .num_attention_heads = 2,
                  .intermediate_size = 24,
                  .max_position_embeddings = kTokens + 2,
                  .head = RobertaHead::kMaskedLm,
                  .head_in_loss = true});
}

// Rows of numbers that go up by three, of which every third place is asked for.
MicroBatch MakePart(int64_t step, int m) {
  MicroBatch part;
  Tensor ids({kPart, kTokens}, DType::kI64), next = Full({kPart, kTokens}, -100, DType::kI64);
  for (int64_t r = 0; r < kPart; ++r) {
    part.samples.push_back(m * kPart + r);
    for (int64_t t = 0; t < kTokens; ++t) {
      const int64_t i = r * kTokens + t, number = step + 5 * part.samples.back() + 3 * t;
      ids.mutable_data<int64_t>()[i] = number % kVocabulary;
      if (i % 3 == 0) next.mutable_data<int64_t>()[i] = (number + 3) % kVocabulary;
    }
  }
  part.inputs = {ids};
  part.targets = {next};
  return part;
}

TrainingParts Parts(const Kind& kind, bool recompute) {
  TrainingParts parts;
  parts.model = [=] {
    const Model model = kind.make();
    model->Initialize(3);
    std::vector<Block> blocks = ModelBlocks(*model);
    for (Block& block : blocks) block.recompute = recompute;
    return blocks;
  };
  parts.loss = [=](const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
    return kind.loss(outputs, targets[0]);
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{.momentum = 0.9});
  };
  parts.learning_rate = [](int64_t) { return 0.1; };
  parts.largest_inputs = {{{kPart, kTokens}, DType::kI64}};
  return parts;
}

struct Outcome {
  std::vector<double> losses;
  std::vector<NamedTensor> weights;
};

Outcome Train(const Kind& kind, const Cuts& cuts, bool recompute = false) {
  Trainer trainer({.stages = static_cast<int>(cuts.size()) + 1,
                   .cuts = cuts,
                   .micro_batches = kMicroBatches,
                   .seed = 5,
                   .clip_norm = 1},
                  Parts(kind, recompute));
  Outcome outcome;
  const BatchFn batches = [](int64_t step, const RankPlace&) {
    MiniBatch batch{.global_samples = kRows};
    for (int m = 0; m < kMicroBatches; ++m) batch.micro_batches.push_back(MakePart(step, m));
    return batch;
  };
  trainer.Train(kSteps, batches,
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  outcome.weights = trainer.State().weights;
  return outcome;
}

void ExpectSame(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  ASSERT_EQ(a.weights.size(), b.weights.size());
  for (size_t i = 0; i < a.weights.size(); ++i) {
    const Tensor &x = a.weights[i].value, &y = b.weights[i].value;
    EXPECT_EQ(a.weights[i].name, b.weights[i].name);
    ASSERT_EQ(x.bytes(), y.bytes());
    EXPECT_EQ(std::memcmp(x.raw(), y.raw(), x.bytes()), 0) << a.weights[i].name;
  }
}

class HeadInLoss : public ::testing::TestWithParam<Kind> {};

TEST_P(HeadInLoss, EveryCutGivesTheSameBits) {
  const Outcome one = Train(GetParam(), {});
  ASSERT_EQ(one.losses.size(), static_cast<size_t>(kSteps));
  for (const Cuts& cuts : {Cuts{1}, Cuts{2}, Cuts{3}, Cuts{1, 3}, Cuts{1, 2, 3}})
    ExpectSame(one, Train(GetParam(), cuts));
}

TEST_P(HeadInLoss, RecomputedActivationsGiveTheSameBits) {
  const Outcome kept = Train(GetParam(), {});
  ExpectSame(kept, Train(GetParam(), {}, true));
  ExpectSame(kept, Train(GetParam(), {2}, true));
}

INSTANTIATE_TEST_SUITE_P(Kinds, HeadInLoss,
                         ::testing::Values(Kind{"gpt2", SmallGpt2, nn::NextTokenLoss},
                                           Kind{"gpt3", SmallGpt3, nn::NextTokenLoss},
                                           Kind{"roberta", SmallRoberta, nn::MaskedTokenLoss}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace torus::recipes
