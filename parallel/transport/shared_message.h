// A message between two groups of n ranks, where all senders hold the same bytes and all receivers
// want them. Each sender sends 1/n of the bytes to its counterpart, and the receivers then
// all-gather the parts among themselves (Narayanan et al. 2021, "Efficient large-scale language
// model training on GPU clusters using Megatron-LM", arXiv:2104.04473, section 4.1). So each
// receiver also sends its 1/n to every other receiver. If every sender sent the whole message
// instead, n times the bytes would cross between the groups, and none within them.
//
// The sizes of parts differ by at most one byte. In each function `group` is the transport of the
// caller's side, senders or receivers. Both sides have the same number of ranks; counterparts have
// the same rank in their groups. If `group` is null or has one rank, the message is sent whole.
#pragma once

#include <cstddef>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// The bytes that this rank sends of a message of `bytes`.
size_t BytesOfPart(const Transport* group, size_t bytes);

// Starts the send of this rank's part of `whole` to `peer`, its counterpart in `transport`. Starts
// nothing if the part is empty.
[[nodiscard]] Pending SendPart(Transport& transport, const Transport* group, int peer, Tag tag,
                               ConstBuffer whole, std::string what);

// Starts to receive all of `whole`: this rank's part from `peer`, the others from the ranks of
// `group`, to which it sends its own part under the same tag. All ranks of `group` call it in the
// same order, and each wait returns only when all of them have reached it. `what` appears in errors
// ("..., all-gather").
[[nodiscard]] Pending RecvParts(Transport& transport, Transport* group, int peer, Tag tag,
                                Buffer whole, std::string what);

}  // namespace torus::parallel
