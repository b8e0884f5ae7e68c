#include "parallel/schedule/central_server.h"

#include <algorithm>
#include <numeric>

#include "parallel/link/link_clock.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// When each stage's last backward ends.
std::vector<double> GradientTimes(const Schedule& schedule, const Simulation& simulation) {
  std::vector<double> ready(schedule.num_stages, 0);
  for (const std::vector<TimedAction>& actions : simulation.ranks)
    for (const TimedAction& timed : actions)
      if (IsBackward(timed.action.kind))
        ready[timed.action.stage] = std::max(ready[timed.action.stage], timed.end);
  return ready;
}

}  // namespace

double SecondsWithServer(const Schedule& schedule, const Simulation& simulation, int replicas,
                         const std::vector<double>& bytes, const LinkModel& link) {
  Require(replicas >= 1 && std::ssize(bytes) == schedule.num_stages, "simulator",
          "a server needs a replica and the bytes of {} stages, got {} and {}", schedule.num_stages,
          replicas, bytes.size());
  const std::vector<double> ready = GradientTimes(schedule, simulation);
  std::vector<int> stages(schedule.num_stages);
  std::iota(stages.begin(), stages.end(), 0);
  std::ranges::stable_sort(stages, {}, [&](int stage) { return ready[stage]; });
  LinkModel shared = link;
  shared.window *= replicas;
  LinkClock in(shared, 0, 1), out(shared, 1, 0);
  double end = simulation.makespan;
  for (const int stage : stages) {
    double summed = 0;
    for (int i = 0; i < replicas; ++i) summed = in.Carry(bytes[stage], ready[stage]).arrival;
    for (int i = 0; i < replicas; ++i) end = std::max(end, out.Carry(bytes[stage], summed).arrival);
  }
  return end;
}

}  // namespace torus::parallel
