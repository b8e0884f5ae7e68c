// Helpers for a list of member ranks that set up a collective together. Internal to the transports.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "parallel/transport/group.h"
#include "parallel/transport/share.h"
#include "parallel/transport/transport.h"
#include "runtime/error.h"

namespace torus::parallel {

inline size_t IndexOfMember(const std::vector<int>& members, int rank) {
  const auto found = std::ranges::find(members, rank);
  TORUS_CHECK(found != members.end(), "rank {} is no member", rank);
  return static_cast<size_t>(found - members.begin());
}

// Above all numbers that communicators and the pipeline use for control messages.
inline constexpr Tag kMembersTag{TagClass::kControl, (1 << 24) - 2};

// Returns `mine` of every member, in the order of `members`. All members call it together.
template <class T>
std::vector<T> ShareAmong(Transport& world, const std::vector<int>& members, const T& mine,
                          const std::string& what) {
  Group group(world, members);
  return Share(group, kMembersTag, mine, what);
}

}  // namespace torus::parallel
