// Work of which every rank must succeed, or none has done it. Trainer's own part.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "parallel/trainer/control.h"

namespace torus::parallel {

// Called by all ranks together: each calls its `work`, then they tell each other whether it threw.
// Null where all succeeded; otherwise, on all of them, the error of the first rank that failed, of
// its kind, with "rank 2 on HOST: " in front where there are several ranks. The ranks have ended in
// order then, so that the world is still whole. `what` stands in the errors of the exchange, which
// are thrown.
[[nodiscard]] std::exception_ptr DoTogether(Control& control, const std::string& what,
                                            const std::function<void()>& work);

}  // namespace torus::parallel
