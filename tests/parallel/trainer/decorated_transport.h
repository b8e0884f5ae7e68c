// A transport that passes everything on to another; tests derive theirs from it.
#pragma once

#include <string>
#include <utility>

#include "parallel/transport/transport.h"

namespace torus::parallel::testing {

class DecoratedTransport : public Transport {
 public:
  explicit DecoratedTransport(Transport& transport) : inner_(transport) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    return inner_.Send(peer, tag, buffer, std::move(what));
  }
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override {
    return inner_.Recv(peer, tag, buffer, std::move(what));
  }
  void Abort(const std::string& reason) override { inner_.Abort(reason); }
  void ThrowIfAborted() const override { inner_.ThrowIfAborted(); }
  uint64_t BytesSent(int peer, TagClass kind) const override {
    return inner_.BytesSent(peer, kind);
  }

 private:
  Transport& inner_;
};

}  // namespace torus::parallel::testing
