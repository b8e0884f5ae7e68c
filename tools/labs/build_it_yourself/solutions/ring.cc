// Lab "ring", solved.
#include <vector>

#include "lab_ring.h"

namespace lab {
namespace {

class Ring {
 public:
  Ring(Wire& wire, std::span<float> data) : wire_(wire), data_(data), n_(wire.size()) {}

  void ReduceScatter() {
    std::vector<float> in(ChunkBegin(data_.size(), n_, 1));  // the first chunk is a longest one
    for (int step = 0; step < n_ - 1; ++step) {
      wire_.Send(right(), Chunk(wire_.rank() - 1 - step));
      const std::span<float> own = Chunk(wire_.rank() - 2 - step);
      const std::span<float> got(in.data(), own.size());
      wire_.Recv(left(), got);
      for (size_t i = 0; i < own.size(); ++i) own[i] = got[i] + own[i];
    }
  }
  void DivideOwn() {
    for (float& value : Chunk(wire_.rank())) value /= static_cast<float>(n_);
  }
  void AllGather() {
    for (int step = 0; step < n_ - 1; ++step) {
      wire_.Send(right(), Chunk(wire_.rank() - step));
      wire_.Recv(left(), Chunk(wire_.rank() - 1 - step));
    }
  }

 private:
  int right() const { return (wire_.rank() + 1) % n_; }
  int left() const { return (wire_.rank() + n_ - 1) % n_; }
  std::span<float> Chunk(int number) const {
    const int chunk = (number + 2 * n_) % n_;
    const size_t begin = ChunkBegin(data_.size(), n_, chunk);
    return data_.subspan(begin, ChunkBegin(data_.size(), n_, chunk + 1) - begin);
  }

  Wire& wire_;
  std::span<float> data_;
  const int n_;
};

}  // namespace

void AllReduceMean(Wire& wire, std::span<float> data) {
  Ring ring(wire, data);
  ring.ReduceScatter();
  ring.DivideOwn();
  ring.AllGather();
}

}  // namespace lab
