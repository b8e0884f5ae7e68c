#include "tools/labs/train_with/message_times.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "tools/labs/train_with/ring_wire.h"

namespace torus::tools::labs {
namespace {

using trace::Event;

struct Step {
  std::map<int, const Event*> sums;    // by rank: the step's all-reduce
  std::vector<const Event*> messages;  // of all ranks, by begin
  int64_t begin() const {
    int64_t first = sums.begin()->second->begin_ns;
    for (const auto& [rank, sum] : sums) first = std::min(first, sum->begin_ns);
    return first;
  }
  int64_t end() const {
    int64_t last = 0;
    for (const auto& [rank, sum] : sums) last = std::max(last, sum->end_ns);
    return last;
  }
};

// What the name of an event says (ring_wire.h).
struct Told {
  bool sends = false;
  int64_t floats = 0;
  int peer = 0;
};

bool Read(const Event& event, Told& told) {
  long long floats = 0;
  const char* const name = event.name.c_str();
  told.sends = std::sscanf(name, "send %lld floats to rank %d", &floats, &told.peer) == 2;
  const bool receives =
      std::sscanf(name, "receive %lld floats from rank %d", &floats, &told.peer) == 2;
  told.floats = floats;
  return told.sends || receives;
}

std::map<int64_t, Step> StepsOf(const std::vector<Event>& events, int ranks) {
  std::map<int64_t, Step> steps;
  for (const Event& event : events)
    if (event.category == "reduce" && event.step >= 0) steps[event.step].sums[event.rank] = &event;
  std::erase_if(steps, [ranks](const auto& entry) {
    return static_cast<int>(entry.second.sums.size()) != ranks;
  });
  for (const Event& event : events) {
    if (event.category != kRingCategory) continue;
    for (auto& [number, step] : steps) {
      const Event& sum = *step.sums.at(event.rank);
      if (event.begin_ns >= sum.begin_ns && event.end_ns <= sum.end_ns)
        step.messages.push_back(&event);
    }
  }
  return steps;
}

// A link's messages are received in the order in which they are sent. Empty where one end of a
// message was not traced.
std::vector<MessageTime> Paired(const Step& step) {
  const auto seconds = [begin = step.begin()](int64_t ns) {
    return static_cast<double>(ns - begin) * 1e-9;
  };
  std::map<std::pair<int, int>, std::deque<MessageTime>> under_way;
  std::vector<MessageTime> messages;
  Told told;
  for (const Event* event : step.messages)
    if (Read(*event, told) && told.sends)
      under_way[{event->rank, told.peer}].push_back(
          {event->rank, told.peer, told.floats, seconds(event->begin_ns), 0, 0});
  for (const Event* event : step.messages) {
    if (!Read(*event, told) || told.sends) continue;
    std::deque<MessageTime>& link = under_way[{told.peer, event->rank}];
    if (link.empty()) return {};
    messages.push_back(link.front());
    messages.back().waits_from = seconds(event->begin_ns);
    messages.back().received = seconds(event->end_ns);
    link.pop_front();
  }
  for (const auto& [link, left] : under_way)
    if (!left.empty()) return {};
  return messages;
}

SumTimes TimesOf(int64_t number, const Step& step) {
  SumTimes times{.step = number, .messages = Paired(step)};
  for (const auto& [rank, sum] : step.sums)
    times.ranks.push_back({static_cast<double>(sum->begin_ns - step.begin()) * 1e-9,
                           static_cast<double>(sum->end_ns - step.begin()) * 1e-9});
  return times;
}

}  // namespace

SumTimes MessagesOf(const std::vector<Event>& events, int ranks) {
  SumTimes shortest;
  int64_t length = std::numeric_limits<int64_t>::max();
  for (const auto& [number, step] : StepsOf(events, ranks)) {
    SumTimes times = TimesOf(number, step);
    if (times.messages.empty() || step.end() - step.begin() >= length) continue;
    length = step.end() - step.begin();
    shortest = std::move(times);
  }
  return shortest;
}

}  // namespace torus::tools::labs
