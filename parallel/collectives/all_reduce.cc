#include "parallel/collectives/all_reduce.h"

#include <type_traits>

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/direct.h"
#include "parallel/collectives/ring.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Entry {
  const char* name;
  AllReduceAlgorithm algorithm;
};

constexpr Entry kAlgorithms[] = {
    {"direct", AllReduceAlgorithm::kDirect},
    {"ring", AllReduceAlgorithm::kRing},
};

}  // namespace

std::vector<std::string> AllReduceNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kAlgorithms) names.emplace_back(entry.name);
  return names;
}

AllReduceAlgorithm AllReduceByName(std::string_view name) {
  for (const Entry& entry : kAlgorithms)
    if (name == entry.name) return entry.algorithm;
  Throw<BadInput>("all-reduce", "unknown algorithm \"{}\"; there are: {}", name,
                  fmt::join(AllReduceNames(), ", "));
}

template <class T>
void AllReduce(Transport& transport, std::span<T> data, const std::string& what,
               AllReduceAlgorithm algorithm, ReduceOp op) {
  Require(op == ReduceOp::kSum || std::is_floating_point_v<T>, "all-reduce",
          "a mean needs floating-point elements ({})", what);
  if (algorithm == AllReduceAlgorithm::kDirect) {
    DirectReduceScatter(transport, data, what);
  } else {
    RingReduceScatter(transport, data, what);
  }
  if (op == ReduceOp::kMean) {
    const Chunk own =
        ChunkOf(static_cast<int64_t>(data.size()), transport.size(), transport.rank() + 1);
    for (T& value : Part(data, own)) value /= static_cast<T>(transport.size());
  }
  RingAllGather(transport, data, what);
}

#define TORUS_ALL_REDUCE(T)                                                                    \
  template void AllReduce<T>(Transport&, std::span<T>, const std::string&, AllReduceAlgorithm, \
                             ReduceOp);
TORUS_ALL_REDUCE(double)
TORUS_ALL_REDUCE(float)
TORUS_ALL_REDUCE(int64_t)
TORUS_ALL_REDUCE(int32_t)
#undef TORUS_ALL_REDUCE

uint64_t AllReduceBytesSent(int ranks, int rank, int64_t count, size_t element_bytes) {
  if (ranks == 1) return 0;
  const int64_t elements =
      2 * count - ChunkOf(count, ranks, rank + 1).size - ChunkOf(count, ranks, rank + 2).size;
  return static_cast<uint64_t>(elements) * element_bytes;
}

}  // namespace torus::parallel
