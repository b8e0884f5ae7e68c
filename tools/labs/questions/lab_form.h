// Lab: one question of the course: what it asks, how it is measured, and the report that a student
// hands in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recipes/study/page.h"
#include "tools/labs/questions/lab_options.h"

namespace torus::labs {

// Prints a line while a lab runs.
using Tell = std::function<void(const std::string& line)>;

// One item of the report: a table with empty cells to fill in, or a question to answer in words.
struct Asked {
  std::string question;
  std::optional<study::Table> table = {};
};

// A count as a table cell.
inline double Real(int64_t count) { return static_cast<double>(count); }

struct Lab {
  std::string name;               // "q3_1", the name of its Bazel target
  std::string question;           // "3.1"
  std::string title;              // "the time of an epoch by batch size"
  std::vector<std::string> task;  // paragraphs that say what is measured, and how
  // The items of the report, with tables of the same form as those of `answer`. Runs nothing.
  std::function<std::vector<Asked>(const LabOptions&)> report;
  // Does the measurements and returns the answers.
  std::function<std::vector<study::Part>(const LabOptions&, const Tell&)> answer;
  bool one_rank = false;  // regardless of --ranks
  int64_t least_ranks = 1;
};

}  // namespace torus::labs
