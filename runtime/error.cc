#include "runtime/error.h"

namespace torus::internal {

void FailCheck(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("[{}:{}] internal check failed: {}{}{}", file, line, condition,
                                  message.empty() ? "" : ": ", message));
}

}  // namespace torus::internal
