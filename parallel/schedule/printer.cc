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
  }
  return "?";
}

std::string Cell(const Action& action, bool with_stage) {
  const std::string cell = fmt::format("{}{}", Letters(action.kind), action.micro_batch);
  return with_stage ? std::to_string(action.stage) + cell : cell;
}

bool SeveralStagesOnARank(const Schedule& schedule) {
  for (const std::vector<Action>& actions : schedule.ranks) {
    std::set<int> stages;
    for (const Action& action : actions) stages.insert(action.stage);
    if (stages.size() > 1) return true;
  }
  return false;
}

// One time slot each, whole backwards and halves alike.
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

std::string ToString(const Action& action) {
  std::string text = fmt::format("{}{}", action.stage, Letters(action.kind));
  if (action.micro_batch >= 0) text += std::to_string(action.micro_batch);
  if (IsSend(action.kind)) text += fmt::format(">{}", action.peer);
  if (IsRecv(action.kind)) text += fmt::format("<{}", action.peer);
  return text;
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

std::string Staircase(const Schedule& schedule) {
  const Simulation simulation = Simulate(schedule, UnitCosts(schedule));
  const int slots = static_cast<int>(std::lround(simulation.makespan));
  const bool with_stage = SeveralStagesOnARank(schedule);
  std::vector<std::vector<std::string>> table(schedule.num_ranks);
  size_t width = 2;
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    table[rank].assign(slots, "..");
    for (const TimedAction& timed : simulation.ranks[rank]) {
      std::string& cell = table[rank][std::lround(timed.begin)];
      cell = Cell(timed.action, with_stage);
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
