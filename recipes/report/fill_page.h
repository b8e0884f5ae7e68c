// Puts the parts of a page together into one file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace torus::recipes {

// Returns `html` with style, data, Chart.js and scripts in place of {{STYLE}}, {{DATA}}, {{CHART}}
// and {{SCRIPT}}, which `html` has in this order. Text in `data` is escaped and never read as
// markup.
std::string FillPage(std::string_view html, const nlohmann::json& data, std::string_view script);

}  // namespace torus::recipes
