// How the verifier refuses a schedule. Internal to the verifier.
#pragma once

#include <utility>

#include "parallel/schedule/printer.h"
#include "parallel/schedule/schedule.h"
#include "runtime/error.h"

namespace torus::parallel {

// Throws BadInput "[schedule] NAME: ..." unless `ok`. Below the message are the ranks' actions
// around `place`, with an arrow there. Pass actions themselves as `args`: they are formatted only
// if the message is thrown.
template <class... Args>
void Rule(bool ok, const Schedule& schedule, const ActionPlace& place,
          fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    Throw<BadInput>("schedule", "{}: {}{}", schedule.name,
                    fmt::format(format, std::forward<Args>(args)...), TableAround(schedule, place));
}

}  // namespace torus::parallel
