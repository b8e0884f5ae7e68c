// ModelDescriptor: all that programs need to know about a model, so that they contain no model
// names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "models/nn/loss.h"
#include "models/nn/sequential.h"

namespace torus {

// The task of a model: its inputs and outputs.
enum class ModelTask {
  kImages,      // images (N, H, W, 3) to logits (N, classes)
  kSentences,   // token ids and mask (N, T), 1 for tokens, 0 for padding, to logits (N, classes)
  kNextToken,   // token ids (N, T) to logits of each next token, (N, T, vocabulary)
  kMaskedToken  // token ids (N, T), some masked, to logits of the masked tokens
};

inline bool IsLanguageModel(ModelTask task) {
  return task == ModelTask::kNextToken || task == ModelTask::kMaskedToken;
}

struct ModelSizes {
  int64_t outputs = 1000;  // classes, or the vocabulary of a language model
  int64_t input = 224;     // height and width of images, or the longest sequence in tokens
  int64_t tokens = 0;      // vocabulary of a text model's input; 0 for images
};

struct BuildOptions {
  bool dropout = true;  // false: no dropout, whatever the configuration says
  // Leaves the last matrix product of a language model to its loss (ModelDescriptor::loss), which
  // then never holds all logits at once. No effect on a classifier.
  bool head_in_loss = false;
};

// A size that a model spec may give after the colon, as in "gpt2:4".
struct SizeNumber {
  std::string symbol;  // "LAYERS"
  std::string what;    // "number of layers"
  double most = 0;     // valid values are in (0, most]
  bool whole = true;
};

inline SizeNumber LayersOfSize() { return {"LAYERS", "number of layers", 1000}; }

// How transformers' config.json describes a model.
struct TransformersConfig {
  std::string model_type;    // "roberta"; empty: transformers has no such model
  std::string architecture;  // the first of "architectures" where models share a type
  // Returns the config.json with all defaults filled in. Throws BadInput tagged `where` if it
  // describes another model.
  std::function<nlohmann::json(const nlohmann::json& config, const std::string& where)> complete;
  // Settings in which two models that share weights may differ. They do not change what the body
  // computes, or they show in the names and shapes of the weights.
  std::set<std::string> may_differ;
  std::string activation;  // the key that names an activation function
};

// How such a model is usually trained: the defaults of a run.
struct UsualTraining {
  std::string optimizer = "sgd";  // or "adamw"
  double learning_rate = 0.1;     // the peak
  double weight_decay = 5e-4;
  double beta2 = 0.999;                // of AdamW
  double clip_norm = 0;                // 0: no clipping
  std::string lr_schedule = "cosine";  // as parallel/optim/lr_schedule.h spells it
};

// For a language model trained from random weights (nanoGPT).
inline UsualTraining UsualGptTraining() {
  return {.optimizer = "adamw",
          .learning_rate = 3e-4,
          .weight_decay = 0.1,
          .beta2 = 0.95,
          .clip_norm = 1,
          .lr_schedule = "cosine:0.1"};
}

// For fine-tuning a text model from published weights (Liu et al. 2019, table 10).
inline UsualTraining UsualFineTuning() {
  return {.optimizer = "adamw",
          .learning_rate = 2e-5,
          .weight_decay = 0.1,
          .beta2 = 0.98,
          .lr_schedule = "linear"};
}

struct ModelDescriptor {
  std::string name;   // "gpt2": the first part of a spec
  std::string title;  // "GPT-2"
  ModelTask task = ModelTask::kImages;
  // Whether it takes the number of each token's document (N, T) as a second input, and attention
  // then stays within a document.
  bool takes_documents = false;
  ModelSizes published = {};
  std::string tokenizer = {};       // of the published weights: "gpt2", "roberta" or "json"
  bool requires_tokenizer = false;  // no other tokenizer works: positions depend on <pad>
  // The sizes a spec gives after the colon, all of them, separated by commas, and what they add to
  // the title, as a format string of fmt: " of {} layers".
  std::vector<SizeNumber> size_numbers = {};
  std::string size_title = {};
  NameRules names = {};  // in files of the reference implementation
  TransformersConfig transformers = {};
  // Mean loss of the model's outputs, given the targets of its task: classes (N), or tokens (N, T)
  // with -100 at positions that do not count.
  std::function<Variable(const std::vector<Variable>& outputs, const Tensor& targets)> loss =
      nn::ClassLoss;
  // The loss of a model split over several tensor-parallel ranks. If empty, every rank has the
  // whole outputs and uses `loss`.
  std::function<Variable(const std::vector<Variable>& outputs, const Tensor& targets,
                         const TensorRanks& ranks)>
      split_loss = {};

  // The reference's configuration (config.json, or the arguments of torchvision's function) of a
  // model with `outputs` outputs. `sizes` are the numbers after the colon, if any.
  std::function<nlohmann::json(std::span<const double> sizes, int64_t outputs)> config = {};
  // Builds the model of a configuration; absent settings have the reference's defaults. The model
  // has no memory yet (nn/module.h). Throws BadInput tagged `where` for settings that are wrong or
  // unknown.
  std::function<std::shared_ptr<nn::Sequential>(const nlohmann::json& config,
                                                const std::string& where, const BuildOptions&)>
      build = {};
  // The sizes of a configuration's model; if empty, `published`.
  std::function<ModelSizes(const nlohmann::json& config, const std::string& where)> sizes = {};
  UsualTraining training = {};
};

}  // namespace torus
