// RoBERTa's options and transformers' config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/roberta/roberta.h"

namespace torus {

// Absent keys have transformers' defaults. The head is the masked LM's where "architectures" names
// RobertaForMaskedLM, else the classifier's, whose classes are "num_labels" or the entries of
// "id2label". BadInput tagged `where` for another model_type, wrong types, and what is not
// implemented here (a decoder, relative positions).
RobertaOptions RobertaFromConfig(const nlohmann::json& config, const std::string& where);

// The config.json from which transformers builds the same model.
nlohmann::json ToConfig(const RobertaOptions& options);

}  // namespace torus
