#include "parallel/schedule/factory.h"

#include "parallel/schedule/csv.h"
#include "parallel/schedule/dual_pipe_v.h"
#include "parallel/schedule/gpipe.h"
#include "parallel/schedule/interleaved.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/one_forward_one_backward.h"
#include "parallel/schedule/u_shaped.h"
#include "parallel/schedule/v_half.h"
#include "parallel/schedule/v_min.h"
#include "parallel/schedule/verifier.h"
#include "parallel/schedule/zero_bubble.h"
#include "parallel/schedule/zero_bubble_v.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Entry {
  const char* name;
  const char* about;
  Schedule (*make)(const PipelineSize& size);
  bool chunks = false;     // whether it takes several
  bool both_ends = false;  // whether rank 0 runs one stage more
  bool v_shaped = false;   // whether each rank runs two, one on the way down and one up
};

constexpr Entry kSchedules[] = {
    {"gpipe", "all forwards of a mini-batch, then all backwards (Huang et al. 2019)", GPipe},
    {"1f1b",
     "one forward and one backward in turn: as fast as gpipe, with less memory (Narayanan et al. "
     "2021a)",
     OneForwardOneBackward},
    {"interleaved",
     "1f1b with several stages per rank: a smaller bubble but more messages (Narayanan et al. "
     "2021b)",
     Interleaved, true},
    {"zb-h1",
     "1f1b with the backward pass split in two; the gradients of weights fill the bubble (Qi et "
     "al. 2024)",
     ZeroBubbleH1},
    {"zb-interleaved", "interleaved with the split backwards of zb-h1: a third of its bubble",
     InterleavedZeroBubble, true},
    {"u-shaped",
     "gpipe whose first rank also runs the last stage, so that data, labels and loss stay there: "
     "one stage more than ranks (Vepakomma et al. 2018)",
     UShaped, false, true},
    {"zb-v",
     "split backwards over two stages a rank, placed in a V: with equal parts no bubble, with the "
     "memory of 1f1b (Qi et al. 2024)",
     ZeroBubbleV, false, false, true},
    {"v-half", "zb-v with half of the memory and a part of the bubble (Qi et al. 2024)", VHalf,
     false, false, true},
    {"v-min", "zb-v with a third of the memory and more of the bubble (Qi et al. 2024)", VMin,
     false, false, true},
    {"dualpipe-v",
     "stages in a V; forwards of one stage of a rank between backwards of the other (DeepSeek-AI "
     "2025)",
     DualPipeV, false, false, true},
};

constexpr std::string_view kCsv = "csv:";

const Entry* Find(std::string_view name) {
  for (const Entry& entry : kSchedules)
    if (name == entry.name) return &entry;
  return nullptr;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ScheduleDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Entry& entry : kSchedules) all.emplace_back(entry.name, entry.about);
  all.emplace_back("csv:FILE",
                   "read from a table with a line per rank and cells such as 0F0 and 0B0");
  return all;
}

std::vector<std::string> ScheduleNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kSchedules) names.emplace_back(entry.name);
  return names;
}

bool TakesChunks(std::string_view name) {
  const Entry* const entry = Find(name);
  return entry != nullptr && entry->chunks;
}

int StagesARank(std::string_view name, int chunks) {
  const Entry* const entry = Find(name);
  if (entry == nullptr || entry->chunks) return chunks;
  return entry->v_shaped ? 2 : 1;
}

PipelineSize SizeOf(std::string_view name, int64_t stages, int64_t micro_batches, int64_t chunks) {
  const Entry* const entry = Find(name);
  if (entry != nullptr && entry->v_shaped && chunks == 1) chunks = 2;
  const bool both_ends = entry != nullptr && entry->both_ends;
  const int64_t even = stages - (both_ends ? 1 : 0);
  Require(chunks >= 1 && even >= 1 && even % chunks == 0, "schedule",
          "{} runs {} stage{} per rank{}, which cannot make {} in all", name, chunks,
          chunks == 1 ? "" : "s", both_ends ? " and one more on the first rank" : "", stages);
  return {.ranks = static_cast<int>(even / chunks),
          .micro_batches = static_cast<int>(micro_batches),
          .chunks = static_cast<int>(chunks),
          .both_ends = both_ends};
}

void CheckScheduleName(std::string_view name) {
  if (Find(name) || name.starts_with(kCsv)) return;
  std::vector<std::string> known;
  for (const auto& [known_name, about] : ScheduleDescriptions()) known.push_back(known_name);
  Throw<BadInput>("schedule", "unknown schedule \"{}\"; there are: {}", name,
                  fmt::join(known, ", "));
}

Schedule MakeSchedule(const ScheduleGenerator& generator, const PipelineSize& size) {
  Schedule schedule = Lower(generator(size));
  Verify(schedule);
  return schedule;
}

Schedule MakeSchedule(std::string_view name, const PipelineSize& size) {
  CheckScheduleName(name);
  if (const Entry* entry = Find(name)) return MakeSchedule(entry->make, size);
  const std::string path(name.substr(kCsv.size()));
  return MakeSchedule([&](const PipelineSize& s) { return ReadScheduleCsv(path, s); }, size);
}

}  // namespace torus::parallel
