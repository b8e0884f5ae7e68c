// Errors with lines of another program below their own message, such as a compiler's.
#pragma once

#include <string>
#include <utility>

#include "runtime/error.h"

namespace torus::tools {

struct LinesBelow {
  explicit LinesBelow(std::string text) : lines(std::move(text)) {}
  virtual ~LinesBelow() = default;
  const std::string lines;
};

template <class Kind>
class ErrorWithLines : public Kind, public LinesBelow {
 public:
  ErrorWithLines(const std::string& message, std::string lines)
      : Kind(message), LinesBelow(std::move(lines)) {}
};

}  // namespace torus::tools
