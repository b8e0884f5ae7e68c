// Small models of three kinds and rows for them, that differ from step to step.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/gpt2/gpt2.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/nn/loss.h"
#include "models/roberta/roberta.h"
#include "parallel/trainer/trainer.h"
#include "recipes/model/model_blocks.h"
#include "runtime/rng.h"

namespace torus::recipes::testing {

inline constexpr int64_t kRows = 8, kTokens = 7, kVocabulary = 29;

// One less in every third step.
inline int64_t RowsOf(int64_t step) { return step % 3 == 2 ? kRows - 1 : kRows; }

struct Rows {
  std::vector<Tensor> inputs;
  Tensor targets;
};

inline Rows Images(int64_t step) {
  Tensor x = Empty({kRows, 32, 32, 3}), classes({kRows}, DType::kI64);
  FillNormal(x, 0, 1, RandomStream({.seed = 2, .step = static_cast<uint64_t>(step)}));
  for (int64_t r = 0; r < kRows; ++r) classes.mutable_data<int64_t>()[r] = (r + step) % 5;
  return {{x}, classes};
}

// The end of every second row is padding.
inline Rows Tokens(int64_t step) {
  const Shape shape{kRows, kTokens};
  Tensor ids(shape, DType::kI64), mask(shape, DType::kI64), targets(shape, DType::kI64);
  for (int64_t i = 0; i < ids.numel(); ++i) {
    const int64_t number = 2 + (step + 5 * i + i * i) % (kVocabulary - 2);
    const bool real = i / kTokens % 2 == 0 || i % kTokens < kTokens - 2;
    ids.mutable_data<int64_t>()[i] = real ? number : 1;
    mask.mutable_data<int64_t>()[i] = real;
    targets.mutable_data<int64_t>()[i] = real ? (number + 3) % kVocabulary : -100;
  }
  return {{ids, mask}, targets};
}

// The same, where the tokens of each row are of two documents.
inline Rows Documents(int64_t step) {
  Rows rows = Tokens(step);
  int64_t* const document = rows.inputs[1].mutable_data<int64_t>();
  for (int64_t i = 0; i < kRows * kTokens; ++i)
    if (document[i] != 0 && i % kTokens > i / kTokens % 4) document[i] = 2;
  return rows;
}

struct Kind {
  std::string name;
  std::function<std::shared_ptr<nn::Sequential>()> make;
  Rows (*rows)(int64_t step);
  std::function<Variable(const std::vector<Variable>&, const Tensor&)> loss;
};

inline const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds{
      // Blocks with and without expansion, stride and residual.
      {"MobileNetV2",
       [] {
         return MobileNetV2({.num_classes = 5,
                             .width_mult = 0.1,
                             .settings = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 1, 2}}});
       },
       Images, nn::ClassLoss},
      {"Roberta",
       [] {
         return Roberta({.vocab_size = kVocabulary,
                         .hidden_size = 12,
                         .num_hidden_layers = 4,
                         .num_attention_heads = 3,
                         .intermediate_size = 20,
                         .max_position_embeddings = 18,
                         .head = RobertaHead::kMaskedLm,
                         .head_in_loss = true});
       },
       Tokens, nn::MaskedTokenLoss},
      {"Gpt2",
       [] {
         return Gpt2({.vocab_size = kVocabulary,
                      .n_positions = kTokens,
                      .n_embd = 12,
                      .n_layer = 3,
                      .n_head = 3});
       },
       Documents, nn::NextTokenLoss}};
  return kinds;
}

// The model's blocks with first values of seed 3.
inline std::vector<parallel::Block> BlocksOf(const Kind& kind, bool recompute,
                                             Precision precision = {}) {
  const auto model = kind.make();
  model->Initialize(3);
  std::vector<parallel::Block> blocks = ModelBlocks(*model);
  for (parallel::Block& block : blocks) {
    block.recompute = recompute;
    block.precision = precision;
  }
  return blocks;
}

inline std::vector<parallel::TensorSpec> InputsOf(const Kind& kind) {
  std::vector<parallel::TensorSpec> specs;
  for (const Tensor& input : kind.rows(0).inputs) specs.push_back({input.shape(), input.dtype()});
  return specs;
}

// Rows [first, last) of the step's `global`, in micro-batches whose sizes differ by one at most.
inline parallel::MiniBatch BatchOf(const Kind& kind, int64_t step, int64_t first, int64_t last,
                                   int micro_batches, int64_t global) {
  const Rows all = kind.rows(step);
  const int64_t rows = last - first;
  parallel::MiniBatch batch{.global_samples = global};
  for (int m = 0; m < micro_batches; ++m) {
    const int64_t begin = first + rows * m / micro_batches;
    const int64_t end = first + rows * (m + 1) / micro_batches;
    parallel::MicroBatch& part = batch.micro_batches.emplace_back();
    for (int64_t r = begin; r < end; ++r) part.samples.push_back(r);
    for (const Tensor& input : all.inputs)
      part.inputs.push_back(input.Narrow(0, begin, end - begin).Clone());
    part.targets = {all.targets.Narrow(0, begin, end - begin).Clone()};
  }
  return batch;
}

}  // namespace torus::recipes::testing
