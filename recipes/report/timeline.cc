#include "recipes/report/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "parallel/schedule/simulator.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;
using trace::Event;

// The categories that a lane shows. All other traced events lie within one of these.
constexpr std::array kKinds = {"forward",   "backward", "transfer", "reduce",
                               "optimizer", "data",     "idle"};

bool IsShown(const Event& event) {
  return event.step >= 0 && std::find(kKinds.begin(), kKinds.end(), event.category) != kKinds.end();
}

std::string Label(const std::string& kind, int64_t micro_batch) {
  if (micro_batch < 0 || (kind != "forward" && kind != "backward")) return "";
  return fmt::format("{}{}", kind == "forward" ? 'F' : 'B', micro_batch);
}

// The kind of a span: a transfer is named by its direction, idle time is a wait.
std::string KindOf(const Event& event) {
  if (event.category == "idle") return "wait";
  if (event.category != "transfer") return event.category;
  return event.name.starts_with("R") ? "receive" : "send";
}

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

struct StepEvents {
  std::vector<const Event*> events;
  std::set<int> computing;    // ranks with a backward: the step is whole when all have one
  size_t compute_events = 0;  // forwards and backwards of all ranks
  int64_t begin() const { return events.front()->begin_ns; }
  int64_t end() const {
    int64_t last = 0;
    for (const Event* event : events) last = std::max(last, event->end_ns);
    return last;
  }
};

std::map<int64_t, StepEvents> WholeSteps(const std::vector<Event>& events, size_t ranks) {
  std::map<int64_t, StepEvents> steps;
  for (const Event& event : events) {
    if (!IsShown(event)) continue;
    steps[event.step].events.push_back(&event);
    if (event.category == "backward") steps[event.step].computing.insert(event.rank);
    if (event.category == "backward" || event.category == "forward")
      ++steps[event.step].compute_events;
  }
  // Tracing starts and stops when the first rank begins or ends a step. Steps that were traced only
  // in part have fewer events.
  size_t whole = 0;
  for (const auto& [step, found] : steps) whole = std::max(whole, found.compute_events);
  std::erase_if(steps, [&](const auto& entry) {
    return entry.second.computing.size() != ranks || entry.second.compute_events < whole;
  });
  if (steps.size() > 1) steps.erase(steps.begin());
  return steps;
}

Json EmptyLanes(const std::vector<std::string>& names) {
  Json lanes = Json::array();
  for (const std::string& name : names) lanes.push_back({{"name", name}, {"spans", Json::array()}});
  return lanes;
}

// The step of median length; of equally long ones the earlier.
int64_t MedianStep(const std::map<int64_t, StepEvents>& steps) {
  std::vector<std::pair<int64_t, int64_t>> lengths;
  for (const auto& [step, found] : steps) lengths.emplace_back(found.end() - found.begin(), step);
  std::sort(lengths.begin(), lengths.end());
  return lengths[(lengths.size() - 1) / 2].second;
}

}  // namespace

Json MeasuredTimeline(const std::vector<Event>& events, const std::vector<std::string>& names) {
  const std::map<int64_t, StepEvents> steps = WholeSteps(events, names.size());
  if (steps.empty()) return {{"step", nullptr}, {"seconds", 0}, {"lanes", Json::array()}};
  const int64_t step = MedianStep(steps);
  const StepEvents& chosen = steps.at(step);
  Json lanes = EmptyLanes(names);
  for (const Event* event : chosen.events)
    lanes.at(event->rank)["spans"].push_back(
        {Seconds(event->begin_ns - chosen.begin()), Seconds(event->end_ns - chosen.begin()),
         KindOf(*event), Label(event->category, event->micro_batch), event->name});
  return {{"step", step}, {"seconds", Seconds(chosen.end() - chosen.begin())}, {"lanes", lanes}};
}

Json IdealTimeline(const parallel::Schedule& schedule, double forward, double backward,
                   const std::vector<std::string>& names) {
  const auto stages = static_cast<size_t>(schedule.num_stages);
  const parallel::Simulation ideal = parallel::Simulate(
      schedule,
      {.forward = std::vector(stages, forward), .backward = std::vector(stages, backward)});
  Json lanes = EmptyLanes(names);
  for (size_t lane = 0; lane < names.size(); ++lane)
    for (const parallel::TimedAction& timed : ideal.ranks[lane % ideal.ranks.size()]) {
      const char* kind =
          timed.action.kind == parallel::ActionKind::kForward ? "forward" : "backward";
      lanes[lane]["spans"].push_back(
          {timed.begin, timed.end, kind, Label(kind, timed.action.micro_batch), kind});
    }
  return {{"seconds", ideal.makespan}, {"lanes", lanes}};
}

}  // namespace torus::recipes
