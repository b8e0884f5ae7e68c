#include "parallel/collectives/ring.h"

#include "parallel/collectives/chunk.h"
#include "runtime/error.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

constexpr Tag kScatterTag{TagClass::kCollective, 1};
constexpr Tag kGatherTag{TagClass::kCollective, 2};

// One step of the ring: `send` to the right neighbour while `receive` comes from the left. Both
// neighbours know the sizes, so an empty chunk needs no message.
template <class T>
void Exchange(Transport& transport, Tag tag, std::span<const T> send, std::span<T> receive,
              const std::string& what) {
  const int n = transport.size(), rank = transport.rank();
  Pending sent, received;
  if (!send.empty()) {
    sent = transport.Send((rank + 1) % n, tag, {send.data(), send.size_bytes()}, what);
  }
  if (!receive.empty()) {
    received =
        transport.Recv((rank + n - 1) % n, tag, {receive.data(), receive.size_bytes()}, what);
  }
  received.Wait();
  sent.Wait();
}

template <class T>
void AddTo(std::span<T> sum, std::span<const T> terms) {
  for (size_t i = 0; i < sum.size(); ++i) {
    // The travelling partial sum stands first, so that a chunk's sum reads from its own rank on.
    sum[i] = static_cast<T>(terms[i] + sum[i]);
  }
}

}  // namespace

template <class T>
void RingReduceScatter(Transport& transport, std::span<T> data, const std::string& what) {
  const int n = transport.size(), rank = transport.rank();
  if (n == 1 || data.empty()) return;
  const int64_t count = static_cast<int64_t>(data.size());
  Storage scratch(static_cast<size_t>(ChunkOf(count, n, 0).size) * sizeof(T), Device{});
  for (int step = 0; step < n - 1; ++step) {
    const Chunk in = ChunkOf(count, n, rank - step - 1);
    const std::span<T> terms(static_cast<T*>(scratch.data()), static_cast<size_t>(in.size));
    Exchange<T>(transport, kScatterTag, Part(data, ChunkOf(count, n, rank - step)), terms,
                fmt::format("{}, reduce-scatter {} of {}", what, step + 1, n - 1));
    AddTo<T>(Part(data, in), terms);
  }
}

template <class T>
void RingAllGather(Transport& transport, std::span<T> data, const std::string& what) {
  const int n = transport.size(), rank = transport.rank();
  const int64_t count = static_cast<int64_t>(data.size());
  for (int step = 0; step < n - 1; ++step) {
    Exchange<T>(transport, kGatherTag, Part(data, ChunkOf(count, n, rank + 1 - step)),
                Part(data, ChunkOf(count, n, rank - step)),
                fmt::format("{}, all-gather {} of {}", what, step + 1, n - 1));
  }
}

#define TORUS_RING(T)                                                               \
  template void RingReduceScatter<T>(Transport&, std::span<T>, const std::string&); \
  template void RingAllGather<T>(Transport&, std::span<T>, const std::string&);
TORUS_RING(double)
TORUS_RING(float)
TORUS_RING(int64_t)
TORUS_RING(int32_t)
#undef TORUS_RING

}  // namespace torus::parallel
