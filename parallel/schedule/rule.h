// How the verifier refuses a schedule. The verifier's own part.
#pragma once

#include <utility>

#include "parallel/schedule/schedule.h"
#include "runtime/error.h"

namespace torus::parallel {

// BadInput "[schedule] NAME: ..." unless `ok`.
template <class... Args>
void Rule(bool ok, const Schedule& schedule, fmt::format_string<Args...> format, Args&&... args) {
  Require(ok, "schedule", "{}: {}", schedule.name,
          fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace torus::parallel
