// Group: a subset of a transport's ranks, renumbered 0..k-1: the replicas of one stage, or the
// stages of one replica.
#pragma once

#include <string>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

class Group : public Transport {
 public:
  // `members` lists ranks of `parent` in the group's order, the same list on every member. Throws
  // BadInput unless they are distinct and include parent.rank(). `parent` must outlive the group.
  // Two groups that share two ranks also share the messages between these two, so they must not use
  // the same tag for different messages at the same time.
  Group(Transport& parent, std::vector<int> members);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  int world_rank() const override { return parent_.world_rank(); }
  std::vector<int> SameHost() const override;
  bool Moves(Device device) const override { return parent_.Moves(device); }
  bool MovesAmong(const std::vector<int>& members, Device device) const override;
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  void Abort(const std::string& reason) override { parent_.Abort(reason); }
  void ThrowIfAborted() const override { parent_.ThrowIfAborted(); }
  uint64_t BytesSent(int peer, TagClass kind) const override;
  Engine* EngineOf(const std::vector<int>& members) override;
  SharedBuffers* SharedBuffersOf(const std::vector<int>& members) override;

 private:
  int Member(int peer) const;
  std::vector<int> OfParent(const std::vector<int>& members) const;

  Transport& parent_;
  std::vector<int> members_;
  int rank_ = -1;
};

}  // namespace torus::parallel
