#include "parallel/transport/group.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {

Group::Group(Transport& parent, std::vector<int> members)
    : parent_(parent), members_(std::move(members)) {
  const std::set<int> distinct(members_.begin(), members_.end());
  Require(distinct.size() == members_.size(), "group", "members must be distinct, got {}",
          fmt::join(members_, ", "));
  Require(!members_.empty() && *distinct.begin() >= 0 && *distinct.rbegin() < parent.size(),
          "group", "members must be ranks below {}, got {}", parent.size(),
          fmt::join(members_, ", "));
  const auto me = std::find(members_.begin(), members_.end(), parent.rank());
  Require(me != members_.end(), "group", "rank {} is not one of the members {}", parent.rank(),
          fmt::join(members_, ", "));
  rank_ = static_cast<int>(me - members_.begin());
}

int Group::Member(int peer) const {
  Require(peer >= 0 && peer < size(), "group", "peer must be below {}, got {}", size(), peer);
  return members_[peer];
}

Pending Group::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  return parent_.Send(Member(peer), tag, buffer, std::move(what));
}

Pending Group::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  return parent_.Recv(Member(peer), tag, buffer, std::move(what));
}

uint64_t Group::BytesSent(int peer, TagClass kind) const {
  return parent_.BytesSent(Member(peer), kind);
}

std::vector<int> Group::SameHost() const {
  const std::vector<int> there = parent_.SameHost();
  std::vector<int> here;
  for (int i = 0; i < size(); ++i)
    if (std::ranges::find(there, members_[i]) != there.end()) here.push_back(i);
  return here;
}

bool Group::MovesAmong(const std::vector<int>& members, Device device) const {
  return parent_.MovesAmong(OfParent(members), device);
}

Engine* Group::EngineOf(const std::vector<int>& members) {
  return parent_.EngineOf(OfParent(members));
}

SharedBuffers* Group::SharedBuffersOf(const std::vector<int>& members) {
  return parent_.SharedBuffersOf(OfParent(members));
}

std::vector<int> Group::OfParent(const std::vector<int>& members) const {
  std::vector<int> ranks;
  for (const int member : members) ranks.push_back(Member(member));
  return ranks;
}

}  // namespace torus::parallel
