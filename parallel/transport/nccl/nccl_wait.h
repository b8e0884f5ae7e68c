// How the NCCL transport waits for what runs on a GPU. Its own part.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "parallel/transport/nccl/nccl_library.h"
#include "parallel/transport/transfer_text.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Gives up, by an error that says `waiting` (what for), when the run has been aborted or `timeout`
// seconds have passed; the latter aborts the run. Until then the rank counts as alive: with a
// deadline of its own it knows better than those that wait for it whom it waits for.
Patience PatienceOf(Transport& transport, double timeout, std::string waiting);

// Until `work` of `comm` has ended. Nothing is seen of its progress: both sides have started it, so
// it must end within `timeout` seconds of waiting, as PatienceOf says. Errors say `waiting`.
WaitTime WaitForWork(NcclWork& work, NcclComm& comm, Transport& transport, double timeout,
                     const std::string& waiting);

// The work that `start` puts into a stream for `message`: errors say so.
std::unique_ptr<NcclWork> StartWork(const TransferText& message,
                                    const std::function<std::unique_ptr<NcclWork>()>& start);

// Why a run is aborted whose message was dropped while it was in a stream.
inline constexpr char kDropped[] = "a message of a GPU was dropped before its end";
// Whether it has ended; not, where that cannot be told.
bool HasEnded(NcclWork& work) noexcept;

// Waits for a message of the transport under this one, which belongs to `message`: errors say so.
WaitTime WaitFor(Pending& pending, const TransferText& message);

}  // namespace torus::parallel
