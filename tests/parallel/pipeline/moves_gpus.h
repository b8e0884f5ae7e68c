// Transports for tests: one that takes the memory of GPUs, as NCCL does, by way of the host's, and
// one that takes none, as MPI.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "parallel/transport/decorated_transport.h"
#include "runtime/kernels.h"

namespace torus::parallel {

class MovesGpus : public DecoratedTransport {
 public:
  explicit MovesGpus(Transport& inner) : DecoratedTransport(inner) {}

  bool Moves(Device) const override { return true; }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (buffer.device == Device{})
      return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
    const Tensor host = Borrow(const_cast<void*>(buffer.data), buffer).To(Device{});
    gpu_bytes_ += buffer.bytes;
    Pending pending =
        DecoratedTransport::Send(peer, tag, {host.raw(), buffer.bytes}, std::move(what));
    return Pending(std::make_unique<State>(std::move(pending), host, Tensor()));
  }
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override {
    if (buffer.device == Device{})
      return DecoratedTransport::Recv(peer, tag, buffer, std::move(what));
    Tensor host({static_cast<int64_t>(buffer.bytes)}, DType::kU8);
    Pending pending =
        DecoratedTransport::Recv(peer, tag, {host.mutable_raw(), buffer.bytes}, std::move(what));
    return Pending(std::make_unique<State>(std::move(pending), host, Borrow(buffer.data, buffer)));
  }
  // Sent from GPUs' memory so far.
  uint64_t gpu_bytes() const { return gpu_bytes_; }

 private:
  class State : public Pending::State {
   public:
    State(Pending pending, Tensor host, Tensor target)
        : pending_(std::move(pending)), host_(std::move(host)), target_(std::move(target)) {}
    WaitTime Wait() override {
      const WaitTime time = pending_.Wait();
      if (target_.defined()) Copy(host_, target_);
      return time;
    }
    bool Done() override { return pending_.Done(); }

   private:
    Pending pending_;
    Tensor host_, target_;
  };

  // The buffer's memory, which its owner keeps.
  template <class AnyBuffer>
  static Tensor Borrow(void* data, const AnyBuffer& buffer) {
    const std::shared_ptr<const void> owner(data, [](const void*) {});
    const Shape shape{static_cast<int64_t>(buffer.bytes)};
    return Tensor(std::make_shared<Storage>(data, buffer.bytes, buffer.device, owner), shape,
                  ContiguousStrides(shape), 0, DType::kU8);
  }

  uint64_t gpu_bytes_ = 0;
};

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
