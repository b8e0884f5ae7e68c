// Every name that a public header declares has a comment: Doxygen finds none without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/testing/program.h"
#include "tests/testing/source_tree.h"

namespace torus::docs {
namespace {

namespace fs = std::filesystem;
using tools::testing::Ended;
using tools::testing::Program;

class Doxygen : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v doxygen >/dev/null") != 0)
      GTEST_SKIP() << "NOT CHECKED: there is no doxygen (the Debian package of that name), so "
                      "nothing here says whether public headers have their comments";
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    scratch_ = fs::path(::testing::TempDir()) / ("doxygen_" + name);
    fs::remove_all(scratch_);
    fs::create_directories(scratch_);
  }

  // docs/doxygen/api.sh for these headers, or the public ones.
  Ended Run(const std::vector<std::string>& headers) const {
    std::vector<std::string> arguments = {(testing::SourceRoot() / "docs/doxygen/api.sh").string(),
                                          "--out", (scratch_ / "pages").string()};
    arguments.insert(arguments.end(), headers.begin(), headers.end());
    return Program("/bin/bash", arguments, scratch_.string()).Wait();
  }

  Ended RunOn(const std::string& header) const {
    const fs::path path = scratch_ / "header.h";
    std::ofstream(path) << "// A file for this test.\n#pragma once\n\nnamespace torus {\n\n"
                        << header << "\n}  // namespace torus\n";
    return Run({path.string()});
  }

  fs::path scratch_;
};

TEST_F(Doxygen, PublicHeadersSayWhatEachNameIs) {
  const Ended ended = Run({});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(fs::exists(scratch_ / "pages/index.html"));
}

TEST_F(Doxygen, PlainCommentsAreRead) {
  const Ended ended = RunOn(
      "// A thing. Costs 5 % of <a & b>, see @x and #y.\n"
      "class Thing : public Base {\n"
      " public:\n"
      "  explicit Thing(int size);\n"
      "  Thing(const Thing&) = delete;\n"
      "  ~Thing() override;\n"
      "  // Rows and columns.\n"
      "  int rows() const { return rows_; }\n"
      "  int columns() const {\n    return 2;\n  }\n"
      "  int depth = 3, width = 4;  // of each,\n"
      "                             // in pixels\n"
      "  void Call() override;\n"
      "\n private:\n  int rows_ = 0;\n};\n\n"
      "// Sums; of two or three.\n"
      "int Sum(int a, int b = {});\n"
      "int Sum(int a, int b, int c);\n"
      "int Total(const std::map<int, int>& all);\n\n"
      "// The arguments of PyTorch. Members without a comment are those.\n"
      "struct Options {\n  int stride = 1;\n};\n");
  EXPECT_EQ(ended.status, 0) << ended.err;
}

TEST_F(Doxygen, UndocumentedNamesAreErrors) {
  const std::string documented = "// A thing.\nstruct Thing {\n  int size = 0;  // of it\n";
  ASSERT_EQ(RunOn(documented + "};\n").status, 0);
  for (const auto& [planted, name] : std::vector<std::pair<std::string, std::string>>{
           {documented + "  int planted = 0;\n};\n", "planted"},
           {documented + "  std::function<void(int)> planted;\n};\n", "planted"},
           {documented + "  // The size.\n  int Size() const;\n  int Planted() const;\n};\n",
            "Planted"},
           {"struct Planted {\n  int size = 0;\n};\n", "Planted"},
           {"// Twice x.\nint Twice(int x);\n\nint Planted(int x);\n", "Planted"},
           {"enum class Planted { kOne };\n", "Planted"}}) {
    const Ended ended = RunOn(planted);
    EXPECT_NE(ended.status, 0) << planted;
    EXPECT_NE(ended.err.find(name), std::string::npos) << planted << ended.err;
  }
}

}  // namespace
}  // namespace torus::docs
