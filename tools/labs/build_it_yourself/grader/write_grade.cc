#include "tools/labs/build_it_yourself/grader/write_grade.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recipes/study/escape.h"
#include "tools/labs/build_it_yourself/grader/plain_text.h"

namespace torus::tools::labs {
namespace {

// For an attribute of XML.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : study::HtmlText(PlainText(text)))
    escaped += c == '\n' ? std::string("&#10;") : std::string(1, c);
  return escaped;
}

}  // namespace

std::string ToText(const Grade& grade) {
  std::string text = PlainText(grade.messages);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += fmt::format("{}: {}, seed {}\n", grade.exercise, PlainText(grade.file), grade.seed);
  for (const TestResult& test : grade.tests)
    text += fmt::format("  {:>2} / {:<2}  {:<14} {}\n", test.points, test.of, test.name,
                        test.reason.empty() ? test.about : PlainParagraph(test.reason));
  return text + fmt::format("{} of {} points\n", grade.points(), grade.of());
}

nlohmann::json ToJson(const Grade& grade) {
  nlohmann::json tests = nlohmann::json::array();
  for (const TestResult& test : grade.tests)
    tests.push_back({{"name", test.name},
                     {"about", test.about},
                     {"points", test.points},
                     {"of", test.of},
                     {"passed", test.reason.empty()},
                     {"reason", PlainText(test.reason)}});
  return {{"exercise", grade.exercise},
          {"file", grade.file},
          {"seed", grade.seed},
          {"points", grade.points()},
          {"of", grade.of()},
          {"compiler", PlainText(grade.messages)},
          {"tests", tests}};
}

std::string JsonText(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string TestSuite(const Grade& grade, const std::string& name) {
  const auto failed = std::ranges::count_if(
      grade.tests, [](const TestResult& test) { return !test.reason.empty(); });
  std::string xml = fmt::format("<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n",
                                Escaped(name), grade.tests.size(), failed);
  for (const TestResult& test : grade.tests) {
    xml +=
        fmt::format("  <testcase classname=\"{}\" name=\"{}\"", Escaped(name), Escaped(test.name));
    xml += test.reason.empty()
               ? "/>\n"
               : fmt::format("><failure message=\"{}\"/></testcase>\n", Escaped(test.reason));
  }
  return xml + "</testsuite>\n";
}

std::string ToJUnit(const Grade& grade) { return kXmlBegin + TestSuite(grade, grade.exercise); }

}  // namespace torus::tools::labs
