#include "tools/common/user_path.h"

#include <cstdlib>

namespace torus::tools {

std::string UserPath(const std::string& path) {
  const char* base = std::getenv("TORUS_WORKING_DIRECTORY");
  if (base == nullptr) base = std::getenv("BUILD_WORKING_DIRECTORY");
  if (path.empty() || path.front() == '/' || base == nullptr) return path;
  return std::string(base) + "/" + path;
}

}  // namespace torus::tools
