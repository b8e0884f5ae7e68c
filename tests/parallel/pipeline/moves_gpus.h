// Transports between threads that count or refuse GPUs' memory, for tests of links.
#pragma once

#include <string>
#include <utility>

#include "parallel/transport/decorated_transport.h"
#include "runtime/error.h"

namespace torus::parallel {

// Counts what is sent from there.
class MovesGpus : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (buffer.device.kind == DeviceKind::kCuda) gpu_bytes_ += buffer.bytes;
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }
  uint64_t gpu_bytes() const { return gpu_bytes_; }

 private:
  uint64_t gpu_bytes_ = 0;
};

// As a transport between processes without NCCL.
class MovesCpusAlone : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;

  bool Moves(Device device) const override { return device == Device{}; }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    TORUS_CHECK(buffer.device == Device{}, "sends from {}", buffer.device);
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override {
    TORUS_CHECK(buffer.device == Device{}, "receives into {}", buffer.device);
    return DecoratedTransport::Recv(peer, tag, buffer, std::move(what));
  }
};

}  // namespace torus::parallel
