#include "tools/common/run_main.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "runtime/error.h"

namespace torus::tools {

int RunMain(const char* name, const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return dynamic_cast<const BadInput*>(&error) != nullptr ? 2 : 1;
  }
}

}  // namespace torus::tools
