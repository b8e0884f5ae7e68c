#include "recipes/run/agree_on_options.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/run_facts.h"
#include "recipes/run/run_processes.h"
#include "recipes/run/shared_facts.h"

namespace torus::recipes {
namespace {

// The cores that the ranks of this rank's host may use together. mpirun may leave the same ones to
// all ranks, or binds each to ones of its own; which it is shows the first core.
int64_t CoresOfHost(parallel::Communicator& world, const UsableCores& own,
                    const std::vector<int>& same_host) {
  const std::vector<int64_t> counts = world.Share(own.count, "cores of the ranks");
  const std::vector<int64_t> firsts = world.Share(own.first, "first cores of the ranks");
  std::set<std::pair<int64_t, int64_t>> sets;
  for (const int rank : same_host) sets.emplace(firsts[rank], counts[rank]);
  int64_t cores = 0;
  for (const auto& [first, count] : sets) cores += count;
  return cores;
}

}  // namespace

AgreedOptions AgreeOnOptions(parallel::World* world, RunOptions options, bool evaluates,
                             const UsableCores& cores) {
  int64_t& threads = options.settings.threads;
  if (world == nullptr) {
    if (threads == 0) threads = cores.count;
    return {std::move(options), threads};
  }
  const parallel::RunFacts facts =
      RunProcesses(world).Alive([&] { return OptionFacts(options, evaluates); });
  const int first = world->local().front();
  int64_t least = 1, host_ranks = 1;
  world->Run([&](parallel::Transport& transport) {
    parallel::Communicator ranks(transport);
    parallel::RequireEqualFacts(ranks, facts);
    const std::vector<int> same_host = transport.SameHost();
    const std::vector<int64_t> all =
        ranks.Share(CoresOfHost(ranks, cores, same_host), "cores of the hosts");
    if (transport.rank() != first) return;
    least = std::ranges::min(all);
    host_ranks = std::ssize(same_host);
  });
  if (threads == 0) threads = least;
  return {std::move(options), threads * std::ssize(world->local()) / host_ranks};
}

}  // namespace torus::recipes
