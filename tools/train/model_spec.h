// Models by the name that --model takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/nn/sequential.h"

namespace torus::tools {

// What a model takes: images (N, H, W, 3), or token ids (N, T) and what goes with them.
enum class ModelInput { kImages, kTokens };

struct ModelSpec {
  std::string name;       // "mobilenet_v2"
  std::string title;      // "MobileNetV2"
  double width_mult = 1;  // "mobilenet_v2:0.35"
  int64_t layers = 0;     // "gpt2:4", of a transformer or AmoebaNet; 0: as published
  int64_t filters = 0;    // "amoebanetd:18,256"; 0: as published
  ModelInput input = ModelInput::kImages;
  bool masked = false;          // a language model of masked words, not of the next one
  bool language_model = false;  // its outputs are tokens, one for each place
};

// All names, in the order of a help text.
std::vector<std::string> ModelNames();

// BadInput, listing the names, for another.
ModelSpec ParseModelSpec(const std::string& spec);

// A model with `classes` outputs (of a language model: tokens; those of GPT-2 leave their head to
// NextTokenLoss), initialised from `seed`; then,
// where `weights_file` is not empty, loaded from it (a file or folder, as LoadWeights takes it).
std::shared_ptr<nn::Sequential> BuildModel(const std::string& spec, int64_t classes, uint64_t seed,
                                           const std::string& weights_file);

// The model with neither memory nor values in its parameters, to be described.
std::shared_ptr<nn::Sequential> ModelShapes(const std::string& spec, int64_t classes);

}  // namespace torus::tools
