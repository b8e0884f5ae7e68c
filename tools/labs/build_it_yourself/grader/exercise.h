// What an exercise of the labs is: a file to fill, and the tests that give points for it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/labs/build_it_yourself/grader/dice.h"
#include "tools/labs/build_it_yourself/grader/rank_group.h"

namespace torus::tools::labs {

// Ends a test without points.
struct TestFailed {
  std::string reason;
};

template <class... Args>
void Expect(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) throw TestFailed{fmt::format(format, std::forward<Args>(args)...)};
}

// Where a test runs the program that is graded.
class Bench {
 public:
  Bench(std::string program, Limits limits, uint64_t seed)
      : dice(seed), program_(std::move(program)), limits_(limits) {}

  // Of all ranks; TestFailed where one of them did not come to its result.
  std::vector<RankRecord> Run(const std::vector<RankTask>& tasks, Link link = {});
  bool out_of_time() const { return out_of_time_; }

  Dice dice;

 private:
  const std::string program_;
  const Limits limits_;
  bool out_of_time_ = false;
};

struct TestCase {
  std::string name, about;
  int points = 0;
  std::function<void(Bench&)> run;  // TestFailed: no points
};

struct Exercise {
  std::string name;  // also of its folder, and of the file in it that students fill
  std::string folder;
  std::string about;
  std::vector<TestCase> tests;  // 100 points in all
};

// In the order in which they are taught.
const std::vector<Exercise>& Exercises();
// BadInput with the list for an unknown name.
const Exercise& ExerciseByName(const std::string& name);

}  // namespace torus::tools::labs
