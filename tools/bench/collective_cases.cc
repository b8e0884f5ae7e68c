#include "tools/bench/collective_cases.h"

#include "parallel/collectives/all_reduce.h"
#include "parallel/collectives/all_to_all.h"
#include "parallel/collectives/broadcast.h"
#include "parallel/collectives/chunk.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "parallel/collectives/reduce.h"
#include "parallel/collectives/ring.h"
#include "parallel/collectives/rows.h"

namespace torus::bench {
namespace {

using parallel::Transport;
using Floats = std::span<float>;

double One(int) { return 1; }
double MinusOneOver(int n) { return static_cast<double>(n - 1) / n; }
double Twice(int n) { return 2 * MinusOneOver(n); }

void RunAllToAll(Transport& t, Floats data, Floats room) {
  const size_t size = data.size() - data.size() % t.size();
  parallel::AllToAll(t, std::as_bytes(data.first(size)), std::as_writable_bytes(room.first(size)),
                     "bench");
}

std::vector<std::span<float>> ChunksOf(Transport& t, Floats data) {
  std::vector<std::span<float>> chunks;
  for (int r = 0; r < t.size(); ++r) chunks.push_back(parallel::ChunkOf(data, t.size(), r));
  return chunks;
}

void RunAllGather(Transport& t, Floats data, Floats) {
  std::vector<parallel::Buffer> rows;
  for (const Floats chunk : ChunksOf(t, data)) rows.push_back({chunk.data(), chunk.size_bytes()});
  parallel::GatherRows(t, rows, "bench");
}

}  // namespace

std::vector<CollectiveCase> CollectiveCases(Transport& transport) {
  std::vector<CollectiveCase> cases;
  const bool engine = parallel::EngineOfAll(transport) != nullptr;
  for (const std::string& name : parallel::AllReduceNames()) {
    if (parallel::AllReduceByName(name) == parallel::AllReduceAlgorithm::kEngine && !engine)
      continue;
    cases.push_back(
        {"all-reduce " + name, Twice,
         [algorithm = parallel::AllReduceByName(name)](Transport& t, Floats data, Floats) {
           parallel::AllReduce(t, data, "bench", algorithm);
         }});
  }
  const auto add = [&](const char* name, double (*factor)(int), auto run) {
    cases.push_back({name, factor, run});
  };
  add("reduce-scatter direct", MinusOneOver, [](Transport& t, Floats data, Floats) {
    parallel::ReduceRows(t, ChunksOf(t, data), "bench");
  });
  add("reduce-scatter ring", MinusOneOver,
      [](Transport& t, Floats data, Floats) { parallel::RingReduceScatter(t, data, "bench"); });
  add("all-gather direct", MinusOneOver, RunAllGather);
  add("all-gather ring", MinusOneOver,
      [](Transport& t, Floats data, Floats) { parallel::RingAllGather(t, data, "bench"); });
  add("reduce", One,
      [](Transport& t, Floats data, Floats) { parallel::Reduce(t, data, 0, "bench"); });
  add("broadcast", One, [](Transport& t, Floats data, Floats) {
    parallel::Broadcast(t, std::as_writable_bytes(data), 0, "bench");
  });
  add("all-to-all", MinusOneOver, RunAllToAll);
  return cases;
}

}  // namespace torus::bench
