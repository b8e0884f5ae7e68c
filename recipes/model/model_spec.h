// Models by the name that --model takes.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/checkpoint/load_weights.h"
#include "models/nn/sequential.h"

namespace torus::recipes {

// What a model takes: images (N, H, W, 3), or token ids (N, T) and what goes with them.
enum class ModelInput { kImages, kTokens };

struct ModelSpec {
  std::string name;       // "mobilenet_v2"
  std::string title;      // "MobileNetV2"
  double width_mult = 1;  // "mobilenet_v2:0.35"
  int64_t layers = 0;     // "gpt2:4", of a transformer or AmoebaNet; 0: as published
  int64_t filters = 0;    // "amoebanetd:18,256"; 0: as published
  ModelInput input = ModelInput::kImages;
  std::string tokenizer = {};   // of texts: gpt2 or roberta, whose tokens the published model reads
  bool masked = false;          // a language model of masked words, not of the next one
  bool language_model = false;  // its outputs are tokens, one for each place
  // Outputs of the published model, and what it takes: images of `size` x `size`, or rows of up to
  // `size` of the `tokens` that it knows.
  struct Published {
    int64_t classes = 1000, size = 224, tokens = 0;
  };
  Published published;
};

// All names, in the order of a help text.
std::vector<std::string> ModelNames();

// BadInput, listing the names, for another.
ModelSpec ParseModelSpec(const std::string& spec);

// A model with `classes` outputs (of a language model: tokens; it leaves its head to NextTokenLoss
// or, where masked, MaskedTokenLoss), initialised from `seed`; then,
// where `weights_file` is not empty, loaded from it (a file or folder): strictly by LoadWeights, or
// where `notes` is given by LoadBody, which leaves them there. BadInput where the config.json of a
// folder describes a model of another function (config_match.h).
std::shared_ptr<nn::Sequential> BuildModel(const std::string& spec, int64_t classes, uint64_t seed,
                                           const std::string& weights_file,
                                           BodyNotes* notes = nullptr);

// What Hugging Face's config.json says of such a model; null where that framework has none of the
// kind.
nlohmann::json ModelConfig(const std::string& spec, int64_t classes);

// The model with neither memory nor values in its parameters, to be described.
std::shared_ptr<nn::Sequential> ModelShapes(const std::string& spec, int64_t classes);

}  // namespace torus::recipes
