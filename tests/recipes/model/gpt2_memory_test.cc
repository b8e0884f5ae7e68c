// GPT-2 in four shares: what a rank holds of weights, gradients and optimizer state at once,
// gathered blocks included, beside what each rank of ddp holds. The model is a third as wide as the
// published one, with a third of its tokens, so that every part has about a ninth of its size.
#include <gtest/gtest.h>

#include "models/gpt2/gpt2.h"
#include "ops/loss/cross_entropy.h"
#include "ops/view/view.h"
#include "parallel/optim/adam.h"
#include "parallel/trainer/trainer.h"
#include "recipes/model/model_blocks.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words

// Large parameters have a multiple of four blocks of 2^14 elements, which are what ranks share.
constexpr int64_t kWidth = 256, kVocabulary = 16640, kPositions = 256, kTokens = 4;
constexpr int kReplicas = 4;

std::shared_ptr<nn::Sequential> ThirdAsWide() {
  return Gpt2(
      {.vocab_size = kVocabulary, .n_positions = kPositions, .n_embd = kWidth, .n_head = 4});
}

// One row of numbers a replica.
MiniBatch Batch(int64_t step, const RankPlace& place) {
  MicroBatch part;
  Tensor ids({1, kTokens}, DType::kI64), mask({1, kTokens}, DType::kI64);
  Tensor next({kTokens}, DType::kI64);
  for (int64_t t = 0; t < kTokens; ++t) {
    ids.mutable_data<int64_t>()[t] = 1000 * place.replica + 17 * t + step;
    mask.mutable_data<int64_t>()[t] = 1;
    next.mutable_data<int64_t>()[t] = 5 * t;
  }
  part.samples = {place.replica};
  part.inputs = {ids, mask};
  part.targets = {next};
  return {.global_samples = kReplicas, .micro_batches = {part}};
}

TrainingParts Parts() {
  TrainingParts parts;
  parts.model = [] {
    const auto model = ThirdAsWide();
    model->Initialize(3);
    return ModelBlocks(*model);
  };
  parts.loss = [](const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
    const Variable rows = ops::Reshape(outputs[0], {targets[0].dim(0), kVocabulary});
    return ops::CrossEntropy(rows, Variable(targets[0]));
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Adam>(std::move(parameters), AdamOptions{});
  };
  parts.learning_rate = [](int64_t) { return 1e-4; };
  parts.largest_inputs = {{{1, kTokens}, DType::kI64}, {{1, kTokens}, DType::kI64}};
  return parts;
}

TEST(Gpt2Memory, FourSharesTakeLessThanHalfOfWhatDdpTakes) {
  Trainer trainer({.replicas = kReplicas, .strategy = "fsdp", .timeout = 300}, Parts());
  trainer.Train(2, Batch);
  double parameters = 0;
  for (const NamedVariable& p : ThirdAsWide()->Parameters())
    parameters += static_cast<double>(p.value.numel());
  const double ddp = 16 * parameters;  // f32: weights, gradients, two moments of Adam's
  for (const RankTime& rank : trainer.totals().ranks) {
    const auto peak = static_cast<double>(rank.peak_bytes);
    RecordProperty("peak_of_ddp_" + std::to_string(rank.place.rank), std::to_string(peak / ddp));
    EXPECT_LE(peak / ddp, 0.45) << "rank " << rank.place.rank;
    EXPECT_GE(peak / ddp, 0.25);
    EXPECT_NEAR(static_cast<double>(rank.weights_bytes + rank.optimizer_bytes) / ddp, 0.1875,
                0.001);
  }
}

}  // namespace
}  // namespace torus::recipes
