// A page's parts put together into one file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace torus::recipes {

// `html` with style, data, Chart.js and scripts at its marks {{STYLE}}, {{DATA}}, {{CHART}} and
// {{SCRIPT}}, which stand in it in this order. No text of `data` is ever read as markup.
std::string FillPage(std::string_view html, const nlohmann::json& data, std::string_view script);

}  // namespace torus::recipes
