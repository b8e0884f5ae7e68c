#include "parallel/schedule/csv.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "parallel/schedule/printer.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr int kMostNumber = 1 << 20;             // of a stage or a micro-batch
constexpr size_t kMostBytes = size_t{64} << 20;  // of a file

// Reads up to `most` bytes from `in`, which may be endless.
std::string ReadUpTo(size_t most, std::istream& in) {
  std::string text;
  char part[1 << 16];
  while (text.size() < most) {
    in.read(part, static_cast<std::streamsize>(std::min(most - text.size(), sizeof(part))));
    if (in.gcount() == 0) break;
    text.append(part, static_cast<size_t>(in.gcount()));
  }
  return text;
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<ActionKind> KindOf(char letter) {
  switch (letter) {
    case 'F':
      return ActionKind::kForward;
    case 'B':
      return ActionKind::kBackward;
    case 'I':
      return ActionKind::kBackwardInput;
    case 'W':
      return ActionKind::kBackwardWeight;
    default:
      return std::nullopt;
  }
}

// Reads a number and moves `cell` past it; -1 if there is none.
int TakeNumber(std::string_view& cell) {
  int number = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || number < 0 || number > kMostNumber) return -1;
  cell.remove_prefix(end - cell.data());
  return number;
}

std::optional<Action> ParseCell(std::string_view cell) {
  Action action;
  action.stage = TakeNumber(cell);
  const std::optional<ActionKind> kind = cell.empty() ? std::nullopt : KindOf(cell.front());
  if (action.stage < 0 || !kind) return std::nullopt;
  action.kind = *kind;
  cell.remove_prefix(1);
  action.micro_batch = TakeNumber(cell);
  if (action.micro_batch < 0 || !cell.empty()) return std::nullopt;
  return action;
}

std::vector<Action> ParseLine(std::string_view line, const std::string& name, size_t rank) {
  std::vector<Action> actions;
  const std::vector<std::string_view> cells = Split(line, ',');
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = Trim(cells[i]);
    if (cell.empty()) continue;
    const std::optional<Action> action = ParseCell(cell);
    Require(action.has_value(), "schedule",
            "{}: line {}, cell {} needs stage, one of F B I W, micro-batch, as 0F3; got \"{}\"",
            name, rank + 1, i + 1, cell);
    actions.push_back(*action);
  }
  return actions;
}

}  // namespace

Schedule ScheduleFromCsv(std::string_view text, const std::string& name) {
  Schedule schedule;
  schedule.name = name;
  while (!text.empty() && Trim(text.substr(text.rfind('\n') + 1)).empty()) {
    if (text.find('\n') == std::string_view::npos) break;
    text = text.substr(0, text.rfind('\n'));
  }
  for (const std::string_view line : Split(text, '\n'))
    schedule.ranks.push_back(ParseLine(line, name, schedule.ranks.size()));
  schedule.num_ranks = static_cast<int>(schedule.ranks.size());
  for (const std::vector<Action>& actions : schedule.ranks) {
    for (const Action& action : actions) {
      schedule.num_stages = std::max(schedule.num_stages, action.stage + 1);
      schedule.num_micro_batches = std::max(schedule.num_micro_batches, action.micro_batch + 1);
    }
  }
  Require(schedule.num_stages > 0, "schedule", "{}: has no action", name);
  return schedule;
}

Schedule ReadScheduleCsv(const std::string& path, const PipelineSize& size) {
  std::ifstream file(path, std::ios::binary);
  Require(file.is_open(), "schedule", "cannot open {}: {}", path, std::strerror(errno));
  const std::string text = ReadUpTo(kMostBytes + 1, file);
  Require(text.size() <= kMostBytes, "schedule",
          "{}: a table of a schedule may have at most {} bytes, and this one has more", path,
          kMostBytes);
  Schedule schedule = ScheduleFromCsv(text, path);
  Require(schedule.num_ranks == size.ranks && schedule.num_stages == size.stages() &&
              schedule.num_micro_batches == size.micro_batches,
          "schedule",
          "{}: is for {} ranks, {} stages and {} micro-batches; the run has {}, {} and {}", path,
          schedule.num_ranks, schedule.num_stages, schedule.num_micro_batches, size.ranks,
          size.stages(), size.micro_batches);
  return schedule;
}

std::string ToCsv(const Schedule& schedule) {
  std::string text;
  for (const std::vector<Action>& actions : schedule.ranks) {
    const char* separator = "";
    for (const Action& action : actions) {
      if (!IsCompute(action.kind)) continue;
      text.append(separator).append(ToString(action));
      separator = ",";
    }
    text += "\n";
  }
  return text;
}

}  // namespace torus::parallel
