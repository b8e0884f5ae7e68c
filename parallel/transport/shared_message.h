// A message from ranks that all have the same bytes to as many that all want them: each sends a
// part of its own to its counterpart, and those that receive gather the parts among themselves
// (Narayanan et al. 2021, "Efficient large-scale language model training on GPU clusters using
// Megatron-LM", arXiv:2104.04473, section 4.1). Of n ranks each sends 1/n of the bytes, and as much
// to each of the others of its own side when it receives; whole messages would be n times the
// bytes between the sides, and none within.
//
// Parts differ by one byte at most. In each function `group` is the transport of one side: the
// sender's, or the receiver's; both sides have as many ranks, and those of one number are
// counterparts. Null, or of one rank: the message goes whole.
#pragma once

#include <cstddef>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Of a message of so many bytes: those that this rank sends.
size_t BytesOfPart(const Transport* group, size_t bytes);

// Starts to send this rank's part of `whole` to `peer`, its counterpart in `transport`. Nothing is
// started where the part is empty.
[[nodiscard]] Pending SendPart(Transport& transport, const Transport* group, int peer, Tag tag,
                               ConstBuffer whole, std::string what);

// Starts to receive all of `whole`: this rank's part from `peer`, the others' from the ranks of
// `group`, to which it sends its own under the same tag. All of these call it in the same order,
// and each wait ends when all of them have come to it; `what` stands in the errors ("...,
// all-gather").
[[nodiscard]] Pending RecvParts(Transport& transport, Transport* group, int peer, Tag tag,
                                Buffer whole, std::string what);

}  // namespace torus::parallel
