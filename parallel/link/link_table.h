// The links between the ranks of a run, by the two ends of each direction.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>

#include "parallel/link/link_model.h"

namespace torus::parallel {

class LinkTable {
 public:
  LinkTable() = default;  // links that take no time
  explicit LinkTable(const LinkModel& all) : all_(all) {}

  // From rank `from` to rank `to`.
  void Set(int from, int to, const LinkModel& link) { own_[{from, to}] = link; }
  const LinkModel& Get(int from, int to) const {
    const auto own = own_.find({from, to});
    return own == own_.end() ? all_ : own->second;
  }
  // The largest rank that is named; -1 where none is.
  int largest_rank() const;

 private:
  LinkModel all_;
  std::map<std::pair<int, int>, LinkModel> own_;
};

// Each spec is "LINK" for all pairs of ranks, "A-B:LINK" for both directions between two ranks, or
// "A>B:LINK" for one; LINK as ParseLink reads it. A later spec overrides an earlier one where both
// apply. BadInput naming the spec that is none of these.
LinkTable ParseLinks(std::span<const std::string> specs);

}  // namespace torus::parallel
