// LinkTable: the link model of each direction between two ranks of a run.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>

#include "parallel/link/link_model.h"

namespace torus::parallel {

class LinkTable {
 public:
  LinkTable() = default;  // all links take no time
  explicit LinkTable(const LinkModel& all) : all_(all) {}

  // From rank `from` to rank `to`.
  void Set(int from, int to, const LinkModel& link) { own_[{from, to}] = link; }
  const LinkModel& Get(int from, int to) const {
    const auto own = own_.find({from, to});
    return own == own_.end() ? all_ : own->second;
  }
  // The largest rank given to Set; -1 if none was.
  int largest_rank() const;

 private:
  LinkModel all_;
  std::map<std::pair<int, int>, LinkModel> own_;
};

// Each spec is "LINK" for all pairs of ranks, "A-B:LINK" for both directions between two ranks, or
// "A>B:LINK" for one direction, with LINK as in ParseLink. If two specs apply to a link, the later
// one wins. Throws BadInput naming the spec that has none of these forms.
LinkTable ParseLinks(std::span<const std::string> specs);

}  // namespace torus::parallel
