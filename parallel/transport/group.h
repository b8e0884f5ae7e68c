// Group: some of the ranks of a transport, seen as ranks 0..k-1 of a transport of their own: the
// replicas of one stage, or the stages of one replica.
#pragma once

#include <string>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

class Group : public Transport {
 public:
  // `members` are ranks of `parent` in the group's order, the same list on every member; they are
  // distinct and hold parent.rank() (BadInput otherwise). `parent` must outlive the group. Two
  // groups that have two ranks in common share the messages between these: they must not use one
  // tag for different messages at the same time.
  Group(Transport& parent, std::vector<int> members);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  int world_rank() const override { return parent_.world_rank(); }
  std::vector<int> SameHost() const override;
  bool Moves(Device device) const override { return parent_.Moves(device); }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  void Abort(const std::string& reason) override { parent_.Abort(reason); }
  void ThrowIfAborted() const override { parent_.ThrowIfAborted(); }
  uint64_t BytesSent(int peer, TagClass kind) const override;
  Engine* EngineOf(const std::vector<int>& members) override;
  SharedRooms* RoomsOf(const std::vector<int>& members) override;

 private:
  int Member(int peer) const;
  std::vector<int> OfParent(const std::vector<int>& members) const;

  Transport& parent_;
  std::vector<int> members_;
  int rank_ = -1;
};

}  // namespace torus::parallel
