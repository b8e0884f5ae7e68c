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
// Indented. What is not UTF-8 is replaced.
std::string JsonText(const nlohmann::json& json);
// A <testsuite> with one <testcase> per test; tests without points have a <failure>.
std::string ToJUnit(const Grade& grade);
// Only that element, with this name.
std::string TestSuite(const Grade& grade, const std::string& name);
inline constexpr const char kXmlBegin[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

}  // namespace torus::tools::labs
