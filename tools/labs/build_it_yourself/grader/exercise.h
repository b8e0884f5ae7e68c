// An exercise of the labs: a file for students to fill in, and the tests that give points for it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/labs/build_it_yourself/grader/dice.h"
#include "tools/labs/build_it_yourself/grader/rank_group.h"

namespace torus::tools::labs {

// Thrown to end a test without points.
struct TestFailed {
  std::string reason;
};

template <class... Args>
void Expect(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) throw TestFailed{fmt::format(format, std::forward<Args>(args)...)};
}

// The lengths of results that are as long as the tasks' values.
std::vector<size_t> LengthsOf(const std::vector<RankTask>& tasks);

// Runs the graded program for a test.
class Bench {
 public:
  Bench(std::string program, Limits limits, uint64_t seed)
      : dice(seed), program_(std::move(program)), limits_(limits) {}

  // Runs one rank for each task and returns their records. Throws TestFailed if a rank did not
  // produce its result of `lengths` floats (by rank). A result of another length is no driver's:
  // student's code has written it to the grader's socket.
  std::vector<RankRecord> Run(const std::vector<RankTask>& tasks,
                              const std::vector<size_t>& lengths, Link link = {});
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
  std::function<void(Bench&)> run;  // throws TestFailed for no points
};

struct Exercise {
  std::string name;    // also that of the file that students fill in
  std::string folder;  // of the header, the driver and the file to fill in
  std::string about;
  std::vector<TestCase> tests;  // with 100 points in all
};

// All exercises, in the order in which they are taught.
const std::vector<Exercise>& Exercises();
// Throws BadInput, with the list of names, for an unknown name.
const Exercise& ExerciseByName(const std::string& name);

}  // namespace torus::tools::labs
