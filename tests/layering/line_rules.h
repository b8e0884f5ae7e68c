// How long the lines of a source may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

// "path:line: has N columns, ..." for each line of more than 100 characters (of UTF-8), but for an
// #include, a URL and the lines of a raw string. clang-format leaves comments as they are.
std::vector<std::string> CheckLines(std::string_view path, std::string_view text);

}  // namespace torus::layering
