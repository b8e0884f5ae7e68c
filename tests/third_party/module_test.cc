// MODULE.bazel is read by no Bazel of Debian's, so its text is held to what Bazel 4 reads.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/testing/source_tree.h"

namespace torus {
namespace {

std::string Read(const std::string& name) {
  return testing::ReadText(testing::SourceRoot() / name);
}

// The names that the pattern's group finds in the text.
std::multiset<std::string> Names(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::multiset<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

// From `begin` to the `end` behind it, or nothing.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == text.npos) return "";
  const size_t to = text.find(end, from + begin.size());
  return to == text.npos ? "" : text.substr(from, to - from);
}

TEST(Module, UsesTheRepositoriesOfTheSystem) {
  const auto defined = Names(
      Between(Read("third_party/bazel/deps.bzl"), "def system_repositories(", "def torus_deps("),
      "name = \"([^\"]*)\"");
  const auto used = Names(Between(Read("MODULE.bazel"), "use_repo(", "\n)"), "\n    \"([^\"]*)\"");
  EXPECT_GT(defined.size(), 10u);
  EXPECT_EQ(used, defined);
}

TEST(Module, HasTheVersionOfTheHeader) {
  const auto version =
      Names(Read("tools/install/torus/version.h"), "#define TORUS_VERSION \"([^\"]*)\"");
  EXPECT_EQ(version.size(), 1u);
  const std::string module = Between(Read("MODULE.bazel"), "module(", "\n)");
  EXPECT_EQ(Names(module, "\n    version = \"([^\"]*)\""), version);
}

}  // namespace
}  // namespace torus
