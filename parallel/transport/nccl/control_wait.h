// How the NCCL transport waits for what ranks tell each other beneath it. Internal to it.
#pragma once

#include <exception>

#include "parallel/transport/nccl/nccl_launches.h"
#include "parallel/transport/transfer_text.h"
#include "runtime/error.h"

namespace torus::parallel {

// Waits for a message on the underlying transport that belongs to `message`. Errors name `message`.
inline WaitTime WaitFor(Pending& pending, const TransferText& message) try {
  return pending.Wait();
} catch (const BrokenEnvironment& error) {
  throw BrokenEnvironment(fmt::format("{}; {}", error.what(), WaitingText(message)));
}

// Whether the operation has ended; false if that cannot be determined.
inline bool HasEnded(NcclLaunch& launch) noexcept try { return launch.Done(); } catch (...) {
  return false;
}

}  // namespace torus::parallel
