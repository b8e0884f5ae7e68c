#include "parallel/schedule/printer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parallel/schedule/simulator.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

const char* Letters(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return "F";
    case ActionKind::kBackward:
      return "B";
    case ActionKind::kBackwardInput:
      return "I";
    case ActionKind::kBackwardWeight:
      return "W";
    case ActionKind::kSendActivation:
      return "sendA";
    case ActionKind::kRecvActivation:
      return "recvA";
    case ActionKind::kSendGradient:
      return "sendG";
    case ActionKind::kRecvGradient:
      return "recvG";
    case ActionKind::kReduce:
      return "reduce";
    case ActionKind::kStep:
      return "step";
    case ActionKind::kGather:
      return "gather";
    case ActionKind::kFree:
      return "free";
  }
  return "?";
}

bool SeveralStagesOnARank(const Schedule& schedule) {
  for (const std::vector<Action>& actions : schedule.ranks) {
    std::set<int> stages;
    for (const Action& action : actions) stages.insert(action.stage);
    if (stages.size() > 1) return true;
  }
  return false;
}

// Each action takes one slot, whether a forward, a whole backward or a half; a whole backward of a
// schedule that has halves, too, takes two.
CostModel UnitCosts(const Schedule& schedule) {
  bool halves = false;
  for (const std::vector<Action>& actions : schedule.ranks) {
    for (const Action& action : actions) halves |= action.kind == ActionKind::kBackwardInput;
  }
  CostModel costs;
  if (halves) costs.backward.assign(schedule.num_stages, 2.0);
  return costs;
}

}  // namespace

std::string ShortName(const Action& action) {
  std::string name = Letters(action.kind);
  if (action.micro_batch >= 0) name += std::to_string(action.micro_batch);
  return name;
}

std::string ToString(const Action& action) {
  std::string text = std::to_string(action.stage) + ShortName(action);
  if (IsSend(action.kind)) text += fmt::format(">{}", action.peer);
  if (IsRecv(action.kind)) text += fmt::format("<{}", action.peer);
  return text;
}

const char* Words(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return "forward";
    case ActionKind::kBackward:
      return "backward";
    case ActionKind::kBackwardInput:
      return "backward to the inputs";
    case ActionKind::kBackwardWeight:
      return "backward to the weights";
    case ActionKind::kSendActivation:
      return "send of an activation";
    case ActionKind::kRecvActivation:
      return "receive of an activation";
    case ActionKind::kSendGradient:
      return "send of a gradient";
    case ActionKind::kRecvGradient:
      return "receive of a gradient";
    case ActionKind::kReduce:
      return "all-reduce of gradients";
    case ActionKind::kStep:
      return "optimizer step";
    case ActionKind::kGather:
      return "gather of weights";
    case ActionKind::kFree:
      return "freeing of weights";
  }
  return "?";
}

std::string ToText(const Schedule& schedule) {
  std::string text;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    text += fmt::format("rank {}:", rank);
    for (const Action& action : schedule.ranks[rank]) text += fmt::format(" {}", ToString(action));
    text += "\n";
  }
  return text;
}

std::string TableAround(const Schedule& schedule, const ActionPlace& place) {
  constexpr size_t kAround = 4;
  const size_t begin = place.index - std::min(place.index, kAround);
  const auto cell = [&](int rank, size_t i) {
    const std::vector<Action>& actions = schedule.ranks[rank];
    return i < actions.size() ? ToString(actions[i]) : std::string();
  };
  std::string text;
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    std::string line = fmt::format("\n  rank {} |{}", rank, begin > 0 ? " ..." : "");
    std::string arrow = fmt::format("\n{:{}}", "", line.size() - 1);
    for (size_t i = begin; i <= place.index + kAround; ++i) {
      size_t width = 0;
      for (int r = 0; r < schedule.num_ranks; ++r) width = std::max(width, cell(r, i).size());
      line += fmt::format(" {:<{}}", cell(rank, i), width);
      if (i < place.index) arrow += std::string(width + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line;
    if (rank == place.rank) text += arrow + " ^";
  }
  return text;
}

std::string Staircase(const Schedule& schedule) {
  const Simulation simulation = Simulate(schedule, UnitCosts(schedule));
  const int slots = static_cast<int>(std::lround(simulation.makespan));
  const bool with_stage = SeveralStagesOnARank(schedule);
  std::vector<std::vector<std::string>> table(schedule.num_ranks);
  size_t width = 2;
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    table[rank].assign(slots, "..");
    for (const TimedAction& timed : simulation.ranks[rank]) {
      const auto slot = std::lround(timed.begin), end = std::lround(timed.end);
      std::fill(table[rank].begin() + slot, table[rank].begin() + end, "--");
      std::string& cell = table[rank][slot];
      cell = with_stage ? ToString(timed.action) : ShortName(timed.action);
      width = std::max(width, cell.size());
    }
  }
  std::string text;
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    text += fmt::format("rank {} |", rank);
    for (const std::string& cell : table[rank]) text += fmt::format(" {:<{}}", cell, width);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace torus::parallel
