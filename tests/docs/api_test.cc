// docs/api.md names all of the public interface: what the headers declare that torus.h, recipes.h
// and mpi.h include.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/source_tree.h"

namespace torus::docs {
namespace {

using testing::ReadText;
using testing::SourceRoot;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What an umbrella header includes, but for the umbrellas.
std::vector<std::string> PublicHeaders() {
  static const std::regex include("#include \"([^\"]+)\"");
  std::vector<std::string> headers;
  for (const char* umbrella : {"torus.h", "recipes.h", "mpi.h"})
    for (const std::string& line :
         Lines(ReadText(SourceRoot() / "tools/install/torus" / umbrella))) {
      std::smatch match;
      if (std::regex_match(line, match, include) && !match.str(1).starts_with("tools/"))
        headers.push_back(match[1]);
    }
  return headers;
}

// Types, aliases, constants and functions that a header declares in its namespace: what is not
// indented, but for namespace internal.
std::set<std::string> NamesIn(const std::string& header) {
  // A type has a body, on its line or below: "struct A;" is another header's.
  static const std::regex type(R"((?:class|struct|enum class|enum) (\w+)(?:[^;{]*|[^;{]*\{.*))"),
      alias(R"(using (\w+) =.*)"), constant(R"(inline constexpr [\w:<>,& ]+[ &](k\w+)\b.*)"),
      function(R"((?!namespace|return|#|//|\})[\w:<>,&* \[\]]*[ *&](\w+)\(.*)");
  std::set<std::string> names;
  bool internal = false;
  for (const std::string& line : Lines(header)) {
    if (line.starts_with("namespace internal")) internal = true;
    if (line.starts_with("}  // namespace internal")) internal = false;
    if (internal || line.starts_with(" ") || line.find("formatter") != line.npos) continue;
    std::smatch match;
    for (const std::regex* form : {&type, &alias, &constant, &function})
      if (std::regex_match(line, match, *form) && !match.str(1).starts_with("operator")) {
        names.insert(match[1]);
        break;
      }
  }
  return names;
}

TEST(Api, NamesAreFound) {
  EXPECT_EQ(NamesIn("struct A;\nclass B : public C {\n  void D();\n};\n// E()\n"
                    "Variable F(const Variable& x,\n           int G);\nusing H = int;\n"
                    "namespace internal {\nvoid I();\n}  // namespace internal\n"
                    "std::vector<int> J();\ninline Shape* K() { return nullptr; }\n"
                    "struct L {};\nenum class M { kN, kO };\nenum P : int { kQ = 1 };\n"
                    "enum class R {\n  kS,\n};\ninline constexpr T kU{};\n"
                    "inline constexpr char kV[] = \"v\";\n"),
            (std::set<std::string>{"B", "F", "H", "J", "K", "L", "M", "P", "R", "kU", "kV"}));
}

TEST(Api, IsOnItsPage) {
  const std::string page = ReadText(SourceRoot() / "docs/api.md");
  const std::vector<std::string> headers = PublicHeaders();
  EXPECT_GT(headers.size(), 70u);
  for (const std::string& header : headers) {
    EXPECT_NE(page.find("(../" + header + ")"), page.npos) << "no link to " << header;
    for (const std::string& name : NamesIn(ReadText(SourceRoot() / header)))
      EXPECT_NE(page.find('`' + name + '`'), page.npos) << name << " of " << header;
  }
}

// What a caller of Trainer and of the layers writes down, whichever header declares it.
TEST(Api, NamesWhatOptionsAreMadeOf) {
  const std::string page = ReadText(SourceRoot() / "docs/api.md");
  for (
      const char* name :
      {"Variable",      "Module",         "StepContext",       "DType",           "Shape",
       "Device",        "TrainerOptions", "TrainingParts",     "TrainHooks",      "RunContext",
       "LossReduction", "Initializer",    "LinearSplit",       "Optimizer",       "Block",
       "LossFn",        "Cuts",           "ScheduleGenerator", "LossScale",       "World",
       "Codec",         "Batch",          "SamplerOptions",    "LoaderOptions",   "MixOptions",
       "SpecialToken",  "Dataset",        "SamplingOptions",   "ClassEvaluation", "TextEvaluation"})
    EXPECT_NE(page.find('`' + std::string(name) + '`'), page.npos) << name;
}

}  // namespace
}  // namespace torus::docs
