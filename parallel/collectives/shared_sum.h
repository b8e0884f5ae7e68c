// All-reduce of ranks that share memory (Transport::RoomsOf): the direct one (direct.h), with its
// bits and its bytes, but a rank puts its terms where the others read them, and its sums likewise.
//
//     shows its terms of every chunk but its own   (once all have taken the sums before)
//     adds everyone's terms of its own chunk, and shows the sum   (once all show their terms)
//     takes the sums of the other chunks           (once all show their sums)
//
// Three marks a piece, and two copies of each element that leaves a rank.
#pragma once

#include <span>
#include <string>

#include "parallel/transport/shared_rooms.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Of all ranks of `transport`; null where they share none.
SharedRooms* RoomsOfAll(Transport& transport);

// Called by every rank of `transport` with spans of one length; `rooms` are RoomsOfAll's. T is
// float, double, int64_t or int32_t. `what` stands in the errors, with the piece added.
template <class T>
void SharedAllReduce(Transport& transport, SharedRooms& rooms, std::span<T> data,
                     const std::string& what);

}  // namespace torus::parallel
