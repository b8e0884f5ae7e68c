// ModelDescriptor: what a model says of itself, so that programs need to know no model by name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "models/nn/loss.h"
#include "models/nn/sequential.h"

namespace torus {

// What a model learns.
enum class ModelTask {
  kImages,      // images (N, H, W, 3) to logits (N, classes)
  kSentences,   // token ids (N, T) and a mask (N, T), 1 for tokens and 0 for padding, to the same
  kNextToken,   // token ids (N, T) to logits of the token behind each, (N, T, vocabulary)
  kMaskedToken  // token ids (N, T), some of them masked, to logits of what the masks hide
};

inline bool IsLanguageModel(ModelTask task) {
  return task == ModelTask::kNextToken || task == ModelTask::kMaskedToken;
}

struct ModelSizes {
  int64_t outputs = 1000;  // classes, or the vocabulary of a language model
  int64_t input = 224;     // height and width of images, or tokens of the longest row
  int64_t tokens = 0;      // that a model of texts knows; 0 of images
};

struct BuildOptions {
  bool dropout = true;  // false: none, whatever the configuration says
  // Leaves the last product of a language model to its loss (ModelDescriptor::loss), which then
  // never holds all logits at once. Without effect on a classifier.
  bool head_in_loss = false;
};

// A number that may follow the colon of "gpt2:4".
struct SizeNumber {
  std::string symbol;  // "LAYERS"
  std::string what;    // "number of layers"
  double most = 0;     // it lies in (0, most]
  bool whole = true;
};

inline SizeNumber LayersOfSize() { return {"LAYERS", "number of layers", 1000}; }

// transformers' config.json of a model.
struct TransformersConfig {
  std::string model_type;    // "roberta"; empty: transformers has no such model
  std::string architecture;  // the first of "architectures" where models share a type
  // A config.json with all that it leaves out filled in. BadInput tagged `where` for one that
  // describes no such model.
  std::function<nlohmann::json(const nlohmann::json& config, const std::string& where)> complete;
  // Settings in which two models that share weights may differ: they do not change what the body
  // computes, or names and shapes of the weights show them.
  std::set<std::string> may_differ;
  std::string activation;  // the key that names an activation function
};

// How such a model is usually trained: where a run begins that says nothing else.
struct UsualTraining {
  std::string optimizer = "sgd";  // or "adamw"
  double learning_rate = 0.1;     // the peak
  double weight_decay = 5e-4;
  double beta2 = 0.999;                // of AdamW
  double clip_norm = 0;                // 0: no clipping
  std::string lr_schedule = "cosine";  // as parallel/optim/lr_schedule.h spells it
};

// A language model from random weights (nanoGPT).
inline UsualTraining UsualGptTraining() {
  return {.optimizer = "adamw",
          .learning_rate = 3e-4,
          .weight_decay = 0.1,
          .beta2 = 0.95,
          .clip_norm = 1,
          .lr_schedule = "cosine:0.1"};
}

// A model of texts from published weights (Liu et al. 2019, table 10).
inline UsualTraining UsualFineTuning() {
  return {.optimizer = "adamw",
          .learning_rate = 2e-5,
          .weight_decay = 0.1,
          .beta2 = 0.98,
          .lr_schedule = "linear"};
}

struct ModelDescriptor {
  std::string name;   // "gpt2", what a spec begins with
  std::string title;  // "GPT-2"
  ModelTask task = ModelTask::kImages;
  ModelSizes published = {};
  std::string tokenizer = {};       // whose tokens the published weights know: "gpt2" or "roberta"
  bool requires_tokenizer = false;  // reads no other tokenizer's: its positions go by <pad>
  // What a colon may be followed by, all of them with commas between, and what they add to the
  // title, in fmt's notation: " of {} layers".
  std::vector<SizeNumber> size_numbers = {};
  std::string size_title = {};
  NameRules names = {};  // of files of the reference
  TransformersConfig transformers = {};
  // Mean loss of what the model puts out and the targets of its task: classes (N), or tokens (N, T)
  // with -100 where none is asked for.
  std::function<Variable(const std::vector<Variable>& outputs, const Tensor& targets)> loss =
      nn::ClassLoss;
  // The same where the model is split over several tensor-parallel ranks; empty: as `loss`, of
  // outputs that are whole on every rank.
  std::function<Variable(const std::vector<Variable>& outputs, const Tensor& targets,
                         const TensorRanks& ranks)>
      split_loss = {};

  // The reference's own configuration (config.json, or the arguments of torchvision's function) of
  // a model with so many outputs. `sizes`: the numbers behind the colon, or none.
  std::function<nlohmann::json(std::span<const double> sizes, int64_t outputs)> config = {};
  // The model of a configuration; what that leaves out is as the reference has it. It has no memory
  // yet (nn/module.h). BadInput tagged `where` for settings that are wrong or unknown.
  std::function<std::shared_ptr<nn::Sequential>(const nlohmann::json& config,
                                                const std::string& where, const BuildOptions&)>
      build = {};
  // Of a configuration's model; empty: those published.
  std::function<ModelSizes(const nlohmann::json& config, const std::string& where)> sizes = {};
  UsualTraining training = {};
};

}  // namespace torus
