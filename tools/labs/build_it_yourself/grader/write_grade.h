// A grade as text, JSON and JUnit's XML.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/labs/build_it_yourself/grader/grade.h"

namespace torus::tools::labs {

// A line each test, the compiler's messages before them.
std::string ToText(const Grade& grade);
// {"exercise", "file", "seed", "points", "of", "compiler", "tests": [{"name", "about", "points",
// "of", "passed", "reason"}]}
nlohmann::json ToJson(const Grade& grade);
// <testsuite> with a <testcase> each; those without points have a <failure>.
std::string ToJUnit(const Grade& grade);

}  // namespace torus::tools::labs
