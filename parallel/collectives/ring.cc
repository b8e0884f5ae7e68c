#include "parallel/collectives/ring.h"

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/pieces.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr Tag kScatterTag{TagClass::kCollective, 1};
constexpr Tag kGatherTag{TagClass::kCollective, 2};

// The n - 1 steps of one half. In the first step each rank sends chunk `first`, in every later one
// what it received in the step before.
template <class T>
class Ring {
 public:
  using Mode = PieceReceiver<T>::Mode;
  Ring(Transport& transport, std::span<T> data, const std::string& what)
      : transport_(transport), data_(data), what_(what), n_(transport.size()) {}

  void Run(int first, Tag tag, Mode mode, const char* half) {
    const int right = (transport_.rank() + 1) % n_, left = (transport_.rank() + n_ - 1) % n_;
    std::string step = Step(half, 1);
    if (n_ > 1) SendPieces(transport_, right, tag, ChunkOf(data_, n_, first), step, sent_);
    for (int i = 1; i < n_; ++i) {
      PieceReceiver<T> in(transport_, left, tag, ChunkOf(data_, n_, first - i), step, mode);
      step = Step(half, i + 1);
      while (!in.done()) {
        const std::span<T> piece = in.Next();
        if (i < n_ - 1) SendPieces(transport_, right, tag, piece, step, sent_);
      }
    }
    WaitForAll(sent_);
  }

 private:
  std::string Step(const char* half, int step) const {
    return fmt::format("{}, {} {} of {}", what_, half, step, n_ - 1);
  }

  Transport& transport_;
  std::span<T> data_;
  const std::string& what_;
  const int n_;
  std::vector<Pending> sent_;
};

}  // namespace

template <class T>
void RingReduceScatter(Transport& transport, std::span<T> data, const std::string& what) {
  Ring<T>(transport, data, what)
      .Run(transport.rank() - 1, kScatterTag, PieceReceiver<T>::Mode::kAdd, "reduce-scatter");
}

template <class T>
void RingAllGather(Transport& transport, std::span<T> data, const std::string& what) {
  Ring<T>(transport, data, what)
      .Run(transport.rank(), kGatherTag, PieceReceiver<T>::Mode::kCopy, "all-gather");
}

template <class T>
void RingAllReduce(Transport& transport, std::span<T> data, const std::string& what) {
  RingReduceScatter(transport, data, what);
  RingAllGather(transport, data, what);
}

#define TORUS_RING(T)                                                               \
  template void RingReduceScatter<T>(Transport&, std::span<T>, const std::string&); \
  template void RingAllGather<T>(Transport&, std::span<T>, const std::string&);     \
  template void RingAllReduce<T>(Transport&, std::span<T>, const std::string&);
TORUS_FOR_SUMMED_TYPES(TORUS_RING)
#undef TORUS_RING

int64_t RingElementsSent(int ranks, int rank, int64_t count) {
  if (ranks == 1) return 0;
  return 2 * count - ChunkOf(count, ranks, rank).size - ChunkOf(count, ranks, rank + 1).size;
}

}  // namespace torus::parallel
