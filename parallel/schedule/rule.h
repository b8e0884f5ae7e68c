// How the verifier refuses a schedule. The verifier's own part.
#pragma once

#include <utility>

#include "parallel/schedule/printer.h"
#include "parallel/schedule/schedule.h"
#include "runtime/error.h"

namespace torus::parallel {

// BadInput "[schedule] NAME: ..." unless `ok`, and below it what each rank does about `place`, with
// an arrow there. Hand over actions themselves: they are formatted where the message is thrown.
template <class... Args>
void Rule(bool ok, const Schedule& schedule, const ActionPlace& place,
          fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    Throw<BadInput>("schedule", "{}: {}{}", schedule.name,
                    fmt::format(format, std::forward<Args>(args)...), TableAround(schedule, place));
}

}  // namespace torus::parallel
