// Models with their weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/checkpoint/load_weights.h"
#include "models/model_spec.h"

namespace torus {

// The model with `outputs` classes (of a language model: tokens), which leaves its head to its
// loss, initialised from `seed`; then, where `weights` is not empty, loaded from that file or
// folder: strictly by LoadWeights, or where `notes` is given by LoadBody, which leaves them there.
// BadInput where the config.json of a folder describes a model of another function
// (checkpoint/config_match.h), and the errors of the readers.
std::shared_ptr<nn::Sequential> BuildModel(const ModelSpec& model, int64_t outputs, uint64_t seed,
                                           const std::string& weights = "",
                                           BodyNotes* notes = nullptr);

// The config.json of such a model; null where transformers has none of the kind.
nlohmann::json TransformersConfigOf(const ModelSpec& model, int64_t outputs);

}  // namespace torus
