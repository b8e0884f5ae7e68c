#include "parallel/collectives/shared_sum.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/element_types.h"
#include "parallel/collectives/sum.h"
#include "runtime/copy_bytes.h"

namespace torus::parallel {
namespace {

constexpr Tag kTerms{TagClass::kCollective, 5}, kSums{TagClass::kCollective, 6};
constexpr size_t kLine = 64;  // bytes: each rank writes to its own cache lines

template <class T>
void Copy(std::span<T> from, std::span<T> to) {
  CopyBytes(to.data(), from.data(), from.size_bytes());
}

template <class T>
class SharedSum {
 public:
  SharedSum(Transport& transport, SharedBuffers& buffers, std::span<T> data,
            const std::string& what)
      : buffers_(buffers),
        data_(data),
        what_(what),
        n_(transport.size()),
        rank_(transport.rank()),
        most_(static_cast<int64_t>(buffers.buffer(0).size() / kLine / n_ * (kLine / sizeof(T)))),
        pieces_((static_cast<int64_t>(ChunkOf(data, n_, 0).size()) + most_ - 1) / most_) {}

  void Run() {
    for (int64_t i = 0; i < pieces_; ++i) {
      const int64_t mark = buffers_.mark(rank_);
      AwaitAll(mark, i, "buffer", kSums);
      ShowTerms(i);
      AwaitAll(mark + 1, i, "reduce-scatter", kTerms);
      Sum(i);
      AwaitAll(mark + 2, i, "all-gather", kSums);
      TakeSums(i);
    }
  }

 private:
  std::span<T> PieceOf(int chunk, int64_t i) const {
    return PieceOfChunk(data_, n_, chunk, i, most_);
  }

  // The part of a rank's buffer that holds its piece of `chunk`.
  std::span<T> Place(int rank, int chunk, int64_t i) const {
    T* const buffer = reinterpret_cast<T*>(buffers_.buffer(rank).data());
    return {buffer + chunk * most_, PieceOf(chunk, i).size()};
  }

  int Other(int k) const { return (rank_ + k) % n_; }

  void AwaitAll(int64_t mark, int64_t i, const char* step, Tag tag) {
    for (int k = 1; k < n_; ++k) {
      const int other = Other(k);
      if (buffers_.mark(other) >= mark) continue;
      const int chunk = tag == kTerms ? rank_ : other;
      buffers_
          .Await(other, mark, tag, PieceOf(chunk, i).size_bytes(),
                 fmt::format("{}, {} {} of {}", what_, step, i + 1, pieces_))
          .Wait();
    }
  }

  void ShowTerms(int64_t i) {
    for (int k = 1; k < n_; ++k) {
      const std::span<T> terms = PieceOf(Other(k), i);
      Copy(terms, Place(rank_, Other(k), i));
      buffers_.CountSent(Other(k), kTerms.kind, terms.size_bytes());
    }
    buffers_.RaiseMark();
  }

  void Sum(int64_t i) {
    std::vector<std::span<T>> terms;
    for (int r = 0; r < n_; ++r)
      terms.push_back(r == rank_ ? PieceOf(rank_, i) : Place(r, rank_, i));
    const std::span<T> sum = Place(rank_, rank_, i);
    SumInPairs<T>(sum, terms);
    Copy(sum, PieceOf(rank_, i));
    for (int k = 1; k < n_; ++k) buffers_.CountSent(Other(k), kSums.kind, sum.size_bytes());
    buffers_.RaiseMark();
  }

  void TakeSums(int64_t i) {
    for (int k = 1; k < n_; ++k) Copy(Place(Other(k), Other(k), i), PieceOf(Other(k), i));
    buffers_.RaiseMark();
  }

  SharedBuffers& buffers_;
  const std::span<T> data_;
  const std::string& what_;
  const int n_, rank_;
  const int64_t most_, pieces_;  // elements of a chunk's piece; number of pieces
};

}  // namespace

SharedBuffers* SharedBuffersOfAll(Transport& transport) {
  if (transport.size() == 1) return nullptr;
  std::vector<int> members(transport.size());
  std::iota(members.begin(), members.end(), 0);
  return transport.SharedBuffersOf(members);
}

template <class T>
void SharedAllReduce(Transport& transport, SharedBuffers& buffers, std::span<T> data,
                     const std::string& what) {
  SharedSum<T>(transport, buffers, data, what).Run();
}

#define TORUS_SHARED(T) \
  template void SharedAllReduce<T>(Transport&, SharedBuffers&, std::span<T>, const std::string&);
TORUS_FOR_SUMMED_TYPES(TORUS_SHARED)
#undef TORUS_SHARED

}  // namespace torus::parallel
