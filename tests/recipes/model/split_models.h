// Small models in f64 that tensor-parallel ranks split, and their runs.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/gpt3/gpt3.h"
#include "models/llama/llama.h"
#include "parallel/optim/adam.h"
#include "parallel/trainer/trainer.h"
#include "runtime/tensor_split.h"
#include "tests/recipes/model/small_models.h"

namespace torus::recipes::testing {

inline constexpr int64_t kSplitLayers = 2, kSplitWidth = 16, kSplitInner = 24, kSplitHeads = 4;

struct SplitKind {
  Kind kind;
  // Where it is split; null: as kind.loss.
  Variable (*split_loss)(const std::vector<Variable>&, const Tensor&, const TensorRanks&) = nullptr;
  int64_t heads = kSplitHeads;
};

inline Rows TokensAlone(int64_t step) {
  Rows rows = Tokens(step);
  rows.inputs.pop_back();
  return rows;
}

inline Rows Sentences(int64_t step) {
  Rows rows = Tokens(step);
  rows.targets = Tensor({kRows}, DType::kI64);
  for (int64_t r = 0; r < kRows; ++r) rows.targets.mutable_data<int64_t>()[r] = (r + step) % 3;
  return rows;
}

// Initial weights are as large as those of a model that has learnt: norms then divide by about 1.
inline RobertaOptions SplitRoberta(RobertaHead head) {
  return {.vocab_size = kVocabulary,
          .hidden_size = kSplitWidth,
          .num_hidden_layers = kSplitLayers,
          .num_attention_heads = kSplitHeads,
          .intermediate_size = kSplitInner,
          .max_position_embeddings = 18,
          .initializer_range = 0.5,
          .num_labels = 3,
          .head = head,
          .head_in_loss = true,
          .dtype = DType::kF64};
}

inline Gpt2Options SplitGpt2() {
  return {.vocab_size = kVocabulary,
          .n_positions = kTokens,
          .n_embd = kSplitWidth,
          .n_layer = kSplitLayers,
          .n_head = kSplitHeads,
          .n_inner = kSplitInner,
          .initializer_range = 0.5,
          .head_in_loss = true,
          .dtype = DType::kF64};
}

// With as many heads of keys as GPT-2 has heads.
inline LlamaOptions SplitLlama() {
  return {.vocab_size = kVocabulary,
          .hidden_size = kSplitWidth,
          .intermediate_size = kSplitInner,
          .num_hidden_layers = kSplitLayers,
          .num_attention_heads = 2 * kSplitHeads,
          .num_key_value_heads = kSplitHeads,
          .head_dim = 4,
          .initializer_range = 0.5,
          .pad_token_id = 1,
          .tie_word_embeddings = true,
          .attention_bias = true,
          .mlp_bias = true,
          .attention_dropout = 0.1,
          .head_in_loss = true,
          .dtype = DType::kF64};
}

// With weights in f32, whose activations go through codecs.
inline const SplitKind& F32Gpt2() {
  static const SplitKind gpt2{{"Gpt2",
                               [] {
                                 Gpt2Options options = SplitGpt2();
                                 options.dtype = DType::kF32;
                                 return Gpt2(options);
                               },
                               Tokens, nn::NextTokenLoss},
                              nn::SplitNextTokenLoss};
  return gpt2;
}

inline const SplitKind& F32Roberta() {
  static const SplitKind roberta{{"Roberta",
                                  [] {
                                    RobertaOptions options = SplitRoberta(RobertaHead::kMaskedLm);
                                    options.dtype = DType::kF32;
                                    return Roberta(options);
                                  },
                                  Tokens, nn::MaskedTokenLoss},
                                 nn::SplitMaskedTokenLoss};
  return roberta;
}

// All but GPT-3 drop out.
inline const std::vector<SplitKind>& SplitKinds() {
  static const std::vector<SplitKind> kinds{
      {{"Gpt2", [] { return Gpt2(SplitGpt2()); }, Documents, nn::NextTokenLoss},
       nn::SplitNextTokenLoss},
      {{"Roberta", [] { return Roberta(SplitRoberta(RobertaHead::kMaskedLm)); }, Tokens,
        nn::MaskedTokenLoss},
       nn::SplitMaskedTokenLoss},
      {{"RobertaClassifier", [] { return Roberta(SplitRoberta(RobertaHead::kClassification)); },
        Sentences, nn::ClassLoss}},
      {{"Llama", [] { return Llama(SplitLlama()); }, Documents, nn::NextTokenLoss},
       nn::SplitNextTokenLoss,
       SplitLlama().num_attention_heads},
      {{"Gpt3",
        [] {
          return Gpt3({.vocab_size = kVocabulary,
                       .positions = kTokens,
                       .width = kSplitWidth,
                       .layers = kSplitLayers,
                       .heads = kSplitHeads,
                       .head = Gpt3Head::kLm,
                       .head_in_loss = true,
                       .dtype = DType::kF64});
        },
        TokensAlone, nn::NextTokenLoss},
       nn::SplitNextTokenLoss}};
  return kinds;
}

inline parallel::TrainingParts PartsOf(const SplitKind& split, bool recompute = false) {
  parallel::TrainingParts parts;
  parts.model = [&split, recompute] { return BlocksOf(split.kind, recompute); };
  parts.loss = [&split](const std::vector<Variable>& outputs, const std::vector<Tensor>& targets,
                        const StepContext& context) {
    const TensorRanks& ranks = context.tensor_ranks;
    const bool of_parts = ranks.size > 1 && split.split_loss != nullptr;
    return of_parts ? split.split_loss(outputs, targets[0], ranks)
                    : split.kind.loss(outputs, targets[0]);
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<parallel::Adam>(std::move(parameters), parallel::AdamOptions{});
  };
  parts.learning_rate = [](int64_t) { return 0.01; };
  parts.largest_inputs = InputsOf(split.kind);
  return parts;
}

// Every replica has its rows of the step's kRows, in as many micro-batches as the options say. They
// are the same examples in every second step.
inline parallel::BatchFn SplitBatches(const SplitKind& split,
                                      const parallel::TrainerOptions& options) {
  return [&split, replicas = options.replicas, micro_batches = options.micro_batches](
             int64_t step, const parallel::RankPlace& place) {
    const int64_t rows = kRows / replicas, first = place.replica * rows;
    parallel::MiniBatch batch =
        BatchOf(split.kind, step, first, first + rows, micro_batches, kRows);
    for (parallel::MicroBatch& part : batch.micro_batches)
      for (const int64_t row : part.samples) part.examples.push_back(kRows * (step % 2) + row);
    return batch;
  };
}

// A trainer, and what it saw in its last step.
class SplitRun {
 public:
  // `world`: whose ranks run it; null for threads.
  SplitRun(const SplitKind& split, const parallel::TrainerOptions& options, parallel::World* world)
      : SplitRun(split, options, false, world) {}
  SplitRun(const SplitKind& split, parallel::TrainerOptions options, bool recompute = false,
           parallel::World* world = nullptr)
      : batches_(SplitBatches(split, options)) {
    options.on_gradients = [this](const parallel::RankPlace& place, int64_t,
                                  const std::vector<NamedVariable>& parameters) {
      const std::lock_guard lock(mutex_);
      for (const NamedVariable& p : parameters)
        gradients[place.rank][p.name] = p.value.grad().Clone();
    };
    const parallel::TrainingParts parts = PartsOf(split, recompute);
    trainer = world == nullptr ? std::make_unique<parallel::Trainer>(options, parts)
                               : std::make_unique<parallel::Trainer>(*world, options, parts);
  }
  // The loss of one more step.
  double Step() {
    double loss = 0;
    trainer->Train(trainer->step() + 1, batches_,
                   {.on_step = [&](const parallel::StepReport& r) { loss = r.loss; }});
    return loss;
  }
  std::vector<double> Steps(int64_t count) {
    std::vector<double> losses;
    for (int64_t i = 0; i < count; ++i) losses.push_back(Step());
    return losses;
  }
  double Evaluate() { return trainer->Evaluate(2, batches_).loss; }

  std::map<int, std::map<std::string, Tensor>> gradients;  // by rank and name
  std::unique_ptr<parallel::Trainer> trainer;

 private:
  parallel::BatchFn batches_;
  std::mutex mutex_;
};

// The same list of micro-batches whatever `replicas`: four of two rows.
inline parallel::TrainerOptions SplitOptions(int tensor, int stages = 1, int replicas = 1) {
  return {.stages = stages,
          .replicas = replicas,
          .tensor = tensor,
          .micro_batches = 4 / replicas,
          .seed = 5,
          .clip_norm = 0.5,
          .ema_decay = 0.5};
}

}  // namespace torus::recipes::testing
