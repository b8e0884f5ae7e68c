// Lab: one question of the course, with what it asks for, how it is measured, and the report that a
// student hands in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recipes/study/page.h"
#include "tools/labs/questions/lab_options.h"

namespace torus::labs {

// Says a line while a lab runs.
using Tell = std::function<void(const std::string& line)>;

// One thing that the report asks for: a table whose cells are empty, or an answer in words.
struct Asked {
  std::string question;
  std::optional<study::Table> table = {};
};

// A count as a table's cell.
inline double Real(int64_t count) { return static_cast<double>(count); }

struct Lab {
  std::string name;               // "q3_1", as its target is called
  std::string question;           // "3.1"
  std::string title;              // "the time of an epoch by batch size"
  std::vector<std::string> task;  // paragraphs that say what is measured, and how
  // What is asked, with tables as `answer` fills them; runs nothing.
  std::function<std::vector<Asked>(const LabOptions&)> report;
  // Runs what must be run, and answers.
  std::function<std::vector<study::Part>(const LabOptions&, const Tell&)> answer;
  bool one_rank = false;  // whatever --ranks says
};

}  // namespace torus::labs
