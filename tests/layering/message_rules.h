// What Require may be given for its message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

// "path:line: ..." for each call of Require (and of Rule, its like for schedules) that makes text
// whether its condition holds or not: that calls ToString, Describe, fmt::format or std::to_string
// for its message, or adds to a literal. Shapes, tensors, devices and actions are handed over
// themselves; what cannot be is thrown behind an if.
std::vector<std::string> CheckMessages(std::string_view path, std::string_view text);

}  // namespace torus::layering
