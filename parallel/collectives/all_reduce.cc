#include "parallel/collectives/all_reduce.h"

#include <tuple>

#include "parallel/collectives/direct.h"
#include "parallel/collectives/element_types.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "parallel/collectives/halving_doubling.h"
#include "parallel/collectives/reduce.h"
#include "parallel/collectives/ring.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

template <class T>
using Sum = void (*)(Transport&, std::span<T>, const std::string&);

struct Entry {
  const char *name, *about;
  std::tuple<Sum<double>, Sum<float>, Sum<int64_t>, Sum<int32_t>> sums;
  int64_t (*elements_sent)(int ranks, int rank, int64_t count);
};

#define TORUS_SUMS(F) \
  { F<double>, F<float>, F<int64_t>, F<int32_t> }

// In the order of AllReduceAlgorithm.
constexpr Entry kEntries[] = {
    {"direct",
     "each rank receives its part from all others at once, sums it, and sends the sum to all",
     TORUS_SUMS(DirectAllReduce), DirectElementsSent},
    {"ring", "ring all-reduce; with three or more ranks the bits depend on where the model is cut",
     TORUS_SUMS(RingAllReduce), RingElementsSent},
    {"halving-doubling", "recursive halving, then doubling: 2 log2 n steps",
     TORUS_SUMS(HalvingDoublingAllReduce), HalvingDoublingElementsSent},
    {"tree", "binary tree to rank 0 and back, for short messages", TORUS_SUMS(TreeAllReduce),
     TreeElementsSent},
    {"engine", "the all-reduce of MPI or NCCL, if the transport is one of them",
     TORUS_SUMS(EngineAllReduce), EngineElementsSent},
};

const Entry& EntryOf(AllReduceAlgorithm algorithm) {
  return kEntries[static_cast<size_t>(algorithm)];
}

}  // namespace

std::vector<std::pair<std::string, std::string>> AllReduceDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Entry& entry : kEntries) all.emplace_back(entry.name, entry.about);
  return all;
}

std::vector<std::string> AllReduceNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

AllReduceAlgorithm AllReduceByName(std::string_view name) {
  for (size_t i = 0; i < std::size(kEntries); ++i)
    if (name == kEntries[i].name) return static_cast<AllReduceAlgorithm>(i);
  Throw<BadInput>("all-reduce", "unknown algorithm \"{}\"; there are: {}", name,
                  fmt::join(AllReduceNames(), ", "));
}

template <class T>
void AllReduce(Transport& transport, std::span<T> data, const std::string& what,
               AllReduceAlgorithm algorithm) {
  std::get<Sum<T>>(EntryOf(algorithm).sums)(transport, data, what);
}

#define TORUS_ALL_REDUCE(T) \
  template void AllReduce<T>(Transport&, std::span<T>, const std::string&, AllReduceAlgorithm);
TORUS_FOR_SUMMED_TYPES(TORUS_ALL_REDUCE)
#undef TORUS_ALL_REDUCE

uint64_t AllReduceBytesSent(AllReduceAlgorithm algorithm, int ranks, int rank, int64_t count,
                            size_t element_bytes) {
  return static_cast<uint64_t>(EntryOf(algorithm).elements_sent(ranks, rank, count)) *
         element_bytes;
}

}  // namespace torus::parallel
