#include "parallel/collectives/direct.h"

#include <algorithm>
#include <vector>

#include "parallel/collectives/chunk.h"
#include "runtime/error.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kCollective, 5};
constexpr size_t kPieceBytes = size_t{1} << 20;

template <class T>
void Add(std::span<T> out, std::span<const T> a, std::span<const T> b) {
#pragma omp simd
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(a[i] + b[i]);
}

// Elements [offset, offset + most) of each rank's chunk, as far as it goes.
template <class T>
class Piece {
 public:
  // `scratch`: `most` elements for each other rank.
  Piece(Transport& transport, std::span<T> data, int64_t offset, int64_t most, T* scratch)
      : transport_(transport), data_(data), offset_(offset), most_(most), scratch_(scratch) {}

  void Reduce(const std::string& what) const {
    const int n = transport_.size(), rank = transport_.rank();
    const std::span<T> own = Of(rank);
    const std::vector<std::span<T>> terms = Terms(own);
    std::vector<Pending> received(n), sent;
    for (int r = 0; r < n; ++r)
      if (r != rank && !own.empty())
        received[r] = transport_.Recv(r, kTag, {terms[r].data(), own.size_bytes()}, what);
    for (int k = 1; k < n; ++k) {
      const std::span<T> part = Of((rank + k) % n);
      if (!part.empty())
        sent.push_back(
            transport_.Send((rank + k) % n, kTag, {part.data(), part.size_bytes()}, what));
    }
    received[0].Wait();
    for (int r = 1; r < n; ++r) {
      received[r].Wait();
      Add<T>(r == n - 1 ? own : terms[0], terms[0], terms[r]);
    }
    for (Pending& send : sent) send.Wait();
  }

 private:
  // Of the chunk that `rank` sums.
  std::span<T> Of(int rank) const {
    const Chunk chunk = ChunkOf(static_cast<int64_t>(data_.size()), transport_.size(), rank + 1);
    const int64_t begin = std::min(offset_, chunk.size);
    return Part(data_, {chunk.begin + begin, std::min(most_, chunk.size - begin)});
  }

  // Where each rank's term of this rank's piece is, or will be received.
  std::vector<std::span<T>> Terms(std::span<T> own) const {
    std::vector<std::span<T>> terms;
    T* next = scratch_;
    for (int r = 0; r < transport_.size(); ++r) {
      terms.push_back(r == transport_.rank() ? own : std::span<T>(next, own.size()));
      if (r != transport_.rank()) next += most_;
    }
    return terms;
  }

  Transport& transport_;
  std::span<T> data_;
  int64_t offset_, most_;
  T* scratch_;
};

}  // namespace

template <class T>
void DirectReduceScatter(Transport& transport, std::span<T> data, const std::string& what) {
  const int n = transport.size();
  if (n == 1 || data.empty()) return;
  const int64_t largest = ChunkOf(static_cast<int64_t>(data.size()), n, 0).size;
  const int64_t most = std::min<int64_t>(largest, kPieceBytes / sizeof(T));
  const int64_t pieces = (largest + most - 1) / most;
  Storage scratch(static_cast<size_t>((n - 1) * most) * sizeof(T), Device{});
  for (int64_t i = 0; i < pieces; ++i) {
    Piece<T>(transport, data, i * most, most, static_cast<T*>(scratch.data()))
        .Reduce(fmt::format("{}, reduce-scatter {} of {}", what, i + 1, pieces));
  }
}

template void DirectReduceScatter<double>(Transport&, std::span<double>, const std::string&);
template void DirectReduceScatter<float>(Transport&, std::span<float>, const std::string&);
template void DirectReduceScatter<int64_t>(Transport&, std::span<int64_t>, const std::string&);
template void DirectReduceScatter<int32_t>(Transport&, std::span<int32_t>, const std::string&);

}  // namespace torus::parallel
