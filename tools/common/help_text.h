// The layout of --help: lists of choices, and text in lines of limited width.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace torus::tools {

// `lead`, a colon, and an indented line "name: about" for each choice.
std::string Choices(const std::string& lead,
                    const std::vector<std::pair<std::string, std::string>>& choices);

// Breaks lines at spaces so that none is longer than `columns` (a longer word has a line of its
// own). What is broken off is indented as its line was; that of an indented line by four more.
std::string Wrapped(const std::string& text, size_t columns);

}  // namespace torus::tools
