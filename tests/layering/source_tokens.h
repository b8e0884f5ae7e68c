// The parts of a C++ source that are not code: comments, and the text of literals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

struct SourceToken {
  enum class Kind { kComment, kLiteral, kRawString };
  Kind kind;
  size_t begin, end;  // bytes; with the quotes
};

// In the order of the source. One that never ends lasts until the end of `text`.
std::vector<SourceToken> TokensOf(std::string_view text);

// `text` with blanks for comments and for what stands between quotes; lines stay where they are.
std::string CodeOf(std::string_view text);

}  // namespace torus::layering
