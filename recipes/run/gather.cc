#include "recipes/run/gather.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace torus::recipes {
namespace {

using Json = nlohmann::json;
using trace::Event;

std::string ToText(const std::vector<Event>& events) {
  Json all = Json::array();
  for (const Event& e : events)
    all.push_back({e.name, e.category, e.rank, e.begin_ns, e.end_ns, e.step, e.micro_batch});
  return all.dump();
}

void AppendEvents(const std::string& text, std::vector<Event>& events) {
  for (const Json& e : Json::parse(text))
    events.push_back({e[0], e[1], e[2], e[3], e[4], e[5], e[6]});
}

}  // namespace

std::vector<Event> GatherEvents(const RunProcesses& processes, std::vector<Event> own) {
  if (processes.alone()) return own;
  const std::vector<std::string> texts = processes.Gather(ToText(own), "trace");
  for (size_t i = 1; i < texts.size(); ++i) AppendEvents(texts[i], own);
  std::ranges::stable_sort(own, {}, &Event::begin_ns);
  return own;
}

ProcessMemory GatherMemory(const RunProcesses& processes, const MemoryStats& own) {
  if (processes.alone()) return {own, {}};
  const Json sizes{own.live_bytes, own.peak_bytes, own.held_bytes};
  ProcessMemory memory{{.limit_bytes = own.limit_bytes}, {}};
  for (const std::string& text : processes.Gather(sizes.dump(), "memory")) {
    const Json stats = Json::parse(text);
    memory.all.live_bytes += stats[0].get<size_t>();
    memory.all.peak_bytes += stats[1].get<size_t>();
    memory.all.held_bytes += stats[2].get<size_t>();
    memory.rank_peaks.push_back(stats[1].get<size_t>());
  }
  return memory;
}

cuda::PlanCounts GatherPlans(const RunProcesses& processes, const cuda::PlanCounts& own) {
  if (processes.alone()) return own;
  const Json counts{own.made, own.compiled, own.known, own.timed, own.fallbacks};
  cuda::PlanCounts sum;
  for (const std::string& text : processes.Gather(counts.dump(), "plans")) {
    const Json one = Json::parse(text);
    sum.Add({one[0], one[1], one[2], one[3], one[4]});
  }
  return sum;
}

}  // namespace torus::recipes
