// How the NCCL transport waits for GPU work. Internal to it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "parallel/transport/nccl/nccl_library.h"
#include "parallel/transport/transfer_text.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Gives up when the run has been aborted or `timeout` seconds have passed; the latter also aborts
// the run. The error says `waiting`, what was waited for. Until then the rank counts as alive: its
// own deadline can name whom it waits for, those of the ranks that wait for it cannot.
Patience PatienceOf(Transport& transport, double timeout, std::string waiting);

// Waits until `work` of `comm` has ended. Both sides have started it and its progress cannot be
// observed, so it must end within `timeout` seconds (see PatienceOf). Errors include `waiting`.
WaitTime WaitForWork(NcclWork& work, NcclComm& comm, Transport& transport, double timeout,
                     const std::string& waiting);

// Calls `start`, which enqueues the work of `message`. Errors name the message.
std::unique_ptr<NcclWork> StartWork(const TransferText& message,
                                    const std::function<std::unique_ptr<NcclWork>()>& start);

// The reason of the abort when a message is dropped while in a stream.
inline constexpr char kDropped[] = "a message of a GPU was dropped before its end";
// Whether the work has ended; false if that cannot be determined.
bool HasEnded(NcclWork& work) noexcept;

// Waits for a control message on the underlying transport that belongs to `message`. Errors name
// `message`.
WaitTime WaitFor(Pending& pending, const TransferText& message);

}  // namespace torus::parallel
