// RoBERTa's options and transformers' config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/roberta/roberta.h"

namespace torus {

// Absent keys have transformers' defaults. The head is the masked LM's if "architectures" names
// RobertaForMaskedLM, else the classifier's. The number of classes is "num_labels" or the number of
// entries of "id2label". Throws BadInput tagged `where` for another model_type, wrong types, and
// settings that are not implemented (a decoder, relative positions).
RobertaOptions RobertaFromConfig(const nlohmann::json& config, const std::string& where);

// The config.json from which transformers builds the same model.
nlohmann::json ToConfig(const RobertaOptions& options);

}  // namespace torus
