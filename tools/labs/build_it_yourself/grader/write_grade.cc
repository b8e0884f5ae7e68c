#include "tools/labs/build_it_yourself/grader/write_grade.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "recipes/study/escape.h"

namespace torus::tools::labs {
namespace {

// What a program printed may hold any bytes; a file of text takes none of these.
std::string Plain(const std::string& text) {
  std::string plain;
  for (const char c : text) plain += (c == '\n' || c == '\t' || (c >= ' ' && c <= '~')) ? c : '?';
  return plain;
}

// For an attribute of XML.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : study::HtmlText(Plain(text)))
    escaped += c == '\n' ? std::string("&#10;") : std::string(1, c);
  return escaped;
}

}  // namespace

std::string ToText(const Grade& grade) {
  std::string text = grade.messages;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += fmt::format("{}: {}, seed {}\n", grade.exercise, grade.file, grade.seed);
  for (const TestResult& test : grade.tests)
    text += fmt::format("  {:>2} / {:<2}  {:<14} {}\n", test.points, test.of, test.name,
                        test.reason.empty() ? test.about : test.reason);
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
                     {"reason", Plain(test.reason)}});
  return {{"exercise", grade.exercise},
          {"file", grade.file},
          {"seed", grade.seed},
          {"points", grade.points()},
          {"of", grade.of()},
          {"compiler", Plain(grade.messages)},
          {"tests", tests}};
}

std::string ToJUnit(const Grade& grade) {
  const auto failed = std::ranges::count_if(
      grade.tests, [](const TestResult& test) { return !test.reason.empty(); });
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n",
      Escaped(grade.exercise), grade.tests.size(), failed);
  for (const TestResult& test : grade.tests) {
    xml += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", Escaped(grade.exercise),
                       Escaped(test.name));
    xml += test.reason.empty()
               ? "/>\n"
               : fmt::format("><failure message=\"{}\"/></testcase>\n", Escaped(test.reason));
  }
  return xml + "</testsuite>\n";
}

}  // namespace torus::tools::labs
