// Builds models and gives them weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/checkpoint/load_weights.h"
#include "models/model_spec.h"

namespace torus {

// Builds the model with `outputs` classes (for a language model: tokens) and initializes it from
// `seed`. A language model leaves its head to its loss. If `weights` names a file or folder, then
// loads it with LoadWeights and fills `taken`, where given; or, if `notes` is given, with LoadBody,
// which fills `notes`. Throws BadInput if the config.json of a folder describes a model that
// computes something else (checkpoint/config_match.h), and the errors of the readers.
std::shared_ptr<nn::Sequential> BuildModel(const ModelSpec& model, int64_t outputs, uint64_t seed,
                                           const WeightsSource& weights = {},
                                           BodyNotes* notes = nullptr,
                                           TakenWeights* taken = nullptr);

// The config.json of such a model; null if transformers has no such model.
nlohmann::json TransformersConfigOf(const ModelSpec& model, int64_t outputs);

}  // namespace torus
