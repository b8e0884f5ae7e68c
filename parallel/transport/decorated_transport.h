// DecoratedTransport: the base of transports that change one thing about another transport. It
// forwards every call except EngineOf and SharedBuffersOf, which return null unless a derived class
// overrides them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

class DecoratedTransport : public Transport {
 public:
  explicit DecoratedTransport(Transport& inner) : inner_(inner) {}  // must outlive this

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  int world_rank() const override { return inner_.world_rank(); }
  std::vector<int> SameHost() const override { return inner_.SameHost(); }
  bool Moves(Device device) const override { return inner_.Moves(device); }
  bool MovesAmong(const std::vector<int>& members, Device device) const override {
    return Moves(device) && inner_.MovesAmong(members, device);
  }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    return inner_.Send(peer, tag, buffer, std::move(what));
  }
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override {
    return inner_.Recv(peer, tag, buffer, std::move(what));
  }
  uint64_t BytesComputed(int peer) const override { return inner_.BytesComputed(peer); }
  void Connect(const Topology& topology) override { inner_.Connect(topology); }
  void Abort(const std::string& reason) override { inner_.Abort(reason); }
  void ThrowIfAborted() const override { inner_.ThrowIfAborted(); }
  uint64_t BytesSent(int peer, TagClass kind) const override {
    return inner_.BytesSent(peer, kind);
  }

 private:
  Transport& inner_;
};

}  // namespace torus::parallel
