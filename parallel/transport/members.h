// Helpers for a list of member ranks that set up a collective together. Internal to the transports.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "parallel/transport/transport.h"
#include "runtime/error.h"

namespace torus::parallel {

inline size_t IndexOfMember(const std::vector<int>& members, int rank) {
  const auto found = std::ranges::find(members, rank);
  TORUS_CHECK(found != members.end(), "rank {} is no member", rank);
  return static_cast<size_t>(found - members.begin());
}

// Returns `mine` of every member, in the order of `members`. All members call it together. It uses
// messages, so it has their deadlines.
template <class T>
std::vector<T> ExchangeAmong(Transport& world, const std::vector<int>& members, const T& mine,
                             const std::string& what) {
  // Above all numbers that the trainer and the pipeline use for control messages.
  constexpr Tag kTag{TagClass::kControl, (1 << 24) - 2};
  std::vector<T> all(members.size(), mine);
  std::vector<Pending> pending;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i] == world.rank()) continue;
    pending.push_back(world.Recv(members[i], kTag, {&all[i], sizeof(T)}, what));
    pending.push_back(world.Send(members[i], kTag, {&mine, sizeof(T)}, what));
  }
  for (Pending& each : pending) each.Wait();
  return all;
}

}  // namespace torus::parallel
