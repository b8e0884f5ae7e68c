#include "tools/labs/build_it_yourself/grader/exercise.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.h"
#include "tools/labs/build_it_yourself/grader/exercises.h"

namespace torus::tools::labs {

std::vector<size_t> LengthsOf(const std::vector<RankTask>& tasks) {
  std::vector<size_t> lengths;
  for (const RankTask& task : tasks) lengths.push_back(task.values.size());
  return lengths;
}

std::vector<RankRecord> Bench::Run(const std::vector<RankTask>& tasks,
                                   const std::vector<size_t>& lengths, Link link) {
  TORUS_CHECK(lengths.size() == tasks.size());
  GroupRun run = RunRanks(program_, tasks, link, limits_);
  out_of_time_ = out_of_time_ || run.out_of_time;
  if (!run.failure.empty()) throw TestFailed{run.failure};
  for (size_t rank = 0; rank < tasks.size(); ++rank)
    Expect(run.ranks[rank].result.size() == lengths[rank],
           "rank {} has a result of {} floats, and {} are expected: does the file write to the "
           "grader's socket itself?",
           rank, run.ranks[rank].result.size(), lengths[rank]);
  return std::move(run.ranks);
}

const std::vector<Exercise>& Exercises() {
  static const std::vector<Exercise> all{
      RingExercise(),  BucketsExercise(),  GPipeExercise(), OneForwardOneBackwardExercise(),
      SortqExercise(), AutogradExercise(), ServerExercise()};
  return all;
}

const Exercise& ExerciseByName(const std::string& name) {
  const auto found = std::ranges::find(Exercises(), name, &Exercise::name);
  if (found != Exercises().end()) return *found;
  std::vector<std::string> names;
  for (const Exercise& exercise : Exercises()) names.push_back(exercise.name);
  Throw<BadInput>("grade", "unknown exercise \"{}\"; there are: {}", name, fmt::join(names, ", "));
}

}  // namespace torus::tools::labs
