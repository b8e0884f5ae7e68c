// How long the rows are that a text model was trained on.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace torus::recipes {

// The key under which a run's config.json says it: beyond so many tokens, position embeddings are
// as they began. transformers keeps keys that it does not know.
inline constexpr char kTrainedLength[] = "torus_trained_length";

// The tokens of a row in training, at least 1, from `config`, the config.json of `folder` (null: it
// has none), else from the settings.json of a run's checkpoint. 0 if neither says it, as with other
// programs' folders. Throws BadInput, naming the file, if it is no such number.
int64_t TrainedLength(const nlohmann::json& config, const std::string& folder);

// A line for the user if rows of `length` tokens (0: not given) are longer than the `trained` ones
// (0: unknown); else empty.
std::string BeyondTraining(int64_t length, int64_t trained);

}  // namespace torus::recipes
