#include "parallel/schedule/factory.h"

#include "parallel/schedule/gpipe.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/verifier.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Entry {
  const char* name;
  const char* about;
  Schedule (*make)(int stages, int micro_batches);
};

constexpr Entry kSchedules[] = {
    {"gpipe", "all forwards of a mini-batch, then all backwards (Huang et al. 2019)", GPipe},
};

}  // namespace

std::vector<std::string> ScheduleNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kSchedules) names.emplace_back(entry.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> ScheduleDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Entry& entry : kSchedules) all.emplace_back(entry.name, entry.about);
  return all;
}

Schedule MakeSchedule(const ScheduleGenerator& generator, int stages, int micro_batches) {
  Schedule schedule = Lower(generator(stages, micro_batches));
  Verify(schedule);
  return schedule;
}

Schedule MakeSchedule(std::string_view name, int stages, int micro_batches) {
  for (const Entry& entry : kSchedules)
    if (name == entry.name) return MakeSchedule(entry.make, stages, micro_batches);
  Throw<BadInput>("schedule", "unknown schedule \"{}\"; there are: {}", name,
                  fmt::join(ScheduleNames(), ", "));
}

}  // namespace torus::parallel
