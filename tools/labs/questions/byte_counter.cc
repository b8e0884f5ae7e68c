#include "tools/labs/questions/byte_counter.h"

#include <utility>

namespace torus::labs {

using parallel::ConstBuffer;
using parallel::Pending;
using parallel::Tag;
using parallel::TagClass;
using parallel::Transport;

const char* NameOf(Cargo cargo) {
  switch (cargo) {
    case Cargo::kGradients:
      return "gradients";
    case Cargo::kInitialWeights:
      return "initial weights";
    case Cargo::kBuffers:
      return "buffers (running statistics)";
    case Cargo::kMetrics:
      return "metrics (loss, finite or not)";
    case Cargo::kSetUp:
      return "set-up and counts";
    case Cargo::kOther:
      break;
  }
  return "other";
}

Cargo CargoOf(Tag tag, std::string_view what) {
  const auto has = [what](std::string_view text) { return what.find(text) != what.npos; };
  if (tag.kind == TagClass::kCollective) {
    if (what.starts_with("all-reduce of bucket")) return Cargo::kGradients;
    if (!what.starts_with("broadcast of")) return Cargo::kOther;
    return has("before step 0") ? Cargo::kInitialWeights : Cargo::kBuffers;
  }
  if (tag.kind != TagClass::kControl) return Cargo::kOther;
  const bool of_step = has("whether step") || has("whether there is");
  return of_step || has("of an evaluation") ? Cargo::kMetrics : Cargo::kSetUp;
}

class ByteCounter::Counted : public parallel::DecoratedTransport {
 public:
  Counted(Transport& inner, ByteCounter& counter) : DecoratedTransport(inner), counter_(counter) {}

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (peer != rank()) counter_.Add(CargoOf(tag, what), buffer.bytes);
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }

 private:
  ByteCounter& counter_;
};

std::unique_ptr<Transport> ByteCounter::Wrap(Transport& transport) {
  return std::make_unique<Counted>(transport, *this);
}

void ByteCounter::Add(Cargo cargo, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  sent_[cargo].bytes += bytes;
  sent_[cargo].messages += 1;
}

std::map<Cargo, Sent> ByteCounter::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sent_, {});
}

}  // namespace torus::labs
