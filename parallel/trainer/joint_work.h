// Work that counts as done only if it succeeds on every rank. Internal to the trainer.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "parallel/collectives/communicator.h"

namespace torus::parallel {

// All ranks call it together: each calls its `work`, a declared long work (runtime/long_work.h)
// that must not wait for other ranks, then they exchange whether it threw. Returns
// null if all succeeded. Otherwise all ranks return the error of the first rank that failed, of the
// same kind, with "rank 2 on HOST: " in front if there are several ranks. No rank is left waiting,
// so the world can be used on. Errors of the exchange itself are thrown, and name `what`.
[[nodiscard]] std::exception_ptr DoTogether(Communicator& world, const std::string& what,
                                            const std::function<void()>& work);

}  // namespace torus::parallel
