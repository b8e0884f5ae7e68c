#include "recipes/run/agree_on_options.h"

#include <algorithm>
#include <thread>

#include "parallel/trainer/control.h"
#include "parallel/trainer/run_facts.h"
#include "recipes/run/run_processes.h"
#include "recipes/run/shared_facts.h"

namespace torus::recipes {

AgreedOptions AgreeOnOptions(parallel::World* world, RunOptions options, bool evaluates,
                             int64_t cores) {
  if (cores == 0) cores = std::max(1u, std::thread::hardware_concurrency());
  int64_t& threads = options.settings.threads;
  if (world == nullptr) {
    if (threads == 0) threads = cores;
    return {std::move(options), threads};
  }
  const parallel::RunFacts facts =
      RunProcesses(world).Alive([&] { return OptionFacts(options, evaluates); });
  const int first = world->local().front();
  int64_t least = 1, host_ranks = 1;
  world->Run([&](parallel::Transport& transport) {
    parallel::Control control(transport);
    parallel::RequireEqualFacts(control, facts);
    const std::vector<int64_t> all = control.Share(cores, "cores of the hosts");
    if (transport.rank() != first) return;
    least = std::ranges::min(all);
    host_ranks = std::ssize(transport.SameHost());
  });
  if (threads == 0) threads = least;
  return {std::move(options), threads * std::ssize(world->local()) / host_ranks};
}

}  // namespace torus::recipes
