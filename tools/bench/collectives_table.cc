#include "tools/bench/collectives_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "parallel/collectives/barrier.h"
#include "runtime/parallel_for.h"
#include "tools/bench/collective_cases.h"

namespace torus::bench {
namespace {

using parallel::Transport;

// Enough calls to take long compared with a barrier, but no more than needed.
int Calls(int64_t bytes) {
  return static_cast<int>(std::clamp<int64_t>(40'000'000 / bytes, 1, 200));
}

// Seconds per call, on each rank by its own clock.
double Seconds(Transport& transport, const CollectiveCase& one, std::span<float> data,
               std::span<float> room) {
  const int calls = Calls(static_cast<int64_t>(data.size_bytes()));
  parallel::Barrier(transport, "bench");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) one.run(transport, data, room);
  parallel::Barrier(transport, "bench");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

// The median of each case, as measured by this rank.
std::vector<double> Medians(Transport& transport, const std::vector<CollectiveCase>& cases,
                            int64_t bytes, int rounds) {
  std::vector<float> data(static_cast<size_t>(bytes / 4)), room(data.size());
  std::vector<std::vector<double>> seconds(cases.size());
  for (int round = 0; round <= rounds; ++round)
    for (size_t i = 0; i < cases.size(); ++i) {
      const double taken = Seconds(transport, cases[i], data, room);
      if (round > 0) seconds[i].push_back(taken);  // the first takes memory
    }
  std::vector<double> medians;
  for (std::vector<double>& all : seconds) {
    std::nth_element(all.begin(), all.begin() + rounds / 2, all.end());
    medians.push_back(all[rounds / 2]);
  }
  return medians;
}

std::string Row(const CollectiveCase& one, int ranks, int64_t bytes, double seconds) {
  const double rate = 1e-9 * static_cast<double>(bytes) / seconds;
  return fmt::format("| {} | {} | {} | {:.1f} | {:.3f} | {:.3f} |\n", one.name, ranks, bytes,
                     1e6 * seconds, rate, rate * one.bus_factor(ranks));
}

}  // namespace

void PrintCollectivesHead(std::ostream& out) {
  out << "| collective | ranks | bytes | time, us | algorithm bandwidth, GB/s | bus bandwidth, "
         "GB/s "
         "|\n|---|---|---|---|---|---|\n";
}

void PrintCollectives(parallel::World& world, const CollectivesOptions& options,
                      std::ostream& out) {
  for (const int64_t bytes : options.bytes)
    world.Run([&](Transport& transport) {
      SetTeamSize(1);
      std::vector<CollectiveCase> cases = CollectiveCases(transport);
      std::erase_if(cases, [&](const CollectiveCase& one) {
        return one.name.find(options.filter) == std::string::npos;
      });
      const std::vector<double> medians = Medians(transport, cases, bytes, options.rounds);
      if (transport.rank() > 0) return;
      for (size_t i = 0; i < cases.size(); ++i)
        out << Row(cases[i], world.size(), bytes, medians[i]);
      out << std::flush;
    });
}

}  // namespace torus::bench
