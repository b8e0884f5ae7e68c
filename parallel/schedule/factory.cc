#include "parallel/schedule/factory.h"

#include "parallel/schedule/gpipe.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/verifier.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Entry {
  const char* name;
  Schedule (*make)(int stages, int micro_batches);
};

constexpr Entry kSchedules[] = {
    {"gpipe", GPipe},
};

}  // namespace

std::vector<std::string> ScheduleNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kSchedules) names.emplace_back(entry.name);
  return names;
}

Schedule MakeSchedule(std::string_view name, int stages, int micro_batches) {
  for (const Entry& entry : kSchedules) {
    if (name != entry.name) continue;
    Schedule schedule = Lower(entry.make(stages, micro_batches));
    Verify(schedule);
    return schedule;
  }
  Throw<BadInput>("schedule", "unknown schedule \"{}\"; there are: {}", name,
                  fmt::join(ScheduleNames(), ", "));
}

}  // namespace torus::parallel
