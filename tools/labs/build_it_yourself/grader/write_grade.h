// Writes a grade as text, JSON or JUnit XML.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/labs/build_it_yourself/grader/grade.h"

namespace torus::tools::labs {

// The compiler's messages, then a line for each test.
std::string ToText(const Grade& grade);
// {"exercise", "file", "seed", "points", "of", "compiler", "tests": [{"name", "about", "points",
// "of", "passed", "reason"}]}
nlohmann::json ToJson(const Grade& grade);
// A <testsuite> with one <testcase> per test; tests without points have a <failure>.
std::string ToJUnit(const Grade& grade);

}  // namespace torus::tools::labs
