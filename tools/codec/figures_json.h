// The figures of codecs as JSON, for --json: numbers as measured, in the units of the keys.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/codec/link_trial.h"
#include "tools/codec/measure.h"

namespace torus::tools {

// A list with an object for each codec. Ratios and errors are missing where it carried no values,
// "signal_to_noise_db" also where it lost nothing.
nlohmann::json ToJson(const std::vector<CodecMeasurement>& measured);
nlohmann::json ToJson(const std::vector<LinkTrial>& trials);

}  // namespace torus::tools
