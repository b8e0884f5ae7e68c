// A rank's end of the world that passes everything on; tests derive theirs from it.
#pragma once

#include <string>
#include <utility>

#include "parallel/transport/transport.h"

namespace torus::parallel::testing {

class DecoratedEnd : public Transport {
 public:
  explicit DecoratedEnd(Transport& end) : end_(end) {}

  int rank() const override { return end_.rank(); }
  int size() const override { return end_.size(); }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    return end_.Send(peer, tag, buffer, std::move(what));
  }
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override {
    return end_.Recv(peer, tag, buffer, std::move(what));
  }
  void Abort(const std::string& reason) override { end_.Abort(reason); }
  void ThrowIfAborted() const override { end_.ThrowIfAborted(); }
  uint64_t BytesSent(int peer, TagClass kind) const override { return end_.BytesSent(peer, kind); }

 private:
  Transport& end_;
};

}  // namespace torus::parallel::testing
