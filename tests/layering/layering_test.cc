// The whole source tree against the include table.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "tests/layering/device_rules.h"
#include "tests/layering/include_rules.h"
#include "tests/layering/line_rules.h"
#include "tests/layering/message_rules.h"
#include "tests/layering/name_rules.h"

namespace torus::layering {
namespace {

namespace fs = std::filesystem;

// The runfiles hold a link to the tree's WORKSPACE; beside the real one lie all sources.
fs::path Root() {
  return fs::canonical(fs::path(std::getenv("TEST_SRCDIR")) / "torus" / "WORKSPACE").parent_path();
}

std::set<std::string> TopFolders() {
  std::set<std::string> folders;
  for (const Rule& rule : IncludeTable())
    folders.emplace(rule.folder.substr(0, rule.folder.find('/')));
  return folders;
}

// Other top folders are none of ours: outputs, an editor's, a user's environment.
std::vector<fs::path> Sources(const fs::path& root) {
  std::vector<fs::path> sources;
  const auto add = [&](const fs::path& file) {
    const fs::path type = file.extension();
    if (type == ".h" || type == ".cc" || type == ".cu") sources.push_back(file);
  };
  for (const std::string& folder : TopFolders()) {
    if (!fs::exists(root / folder)) continue;
    if (folder.empty()) {
      for (const auto& entry : fs::directory_iterator(root)) add(entry.path());
    } else {
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) add(entry.path());
    }
  }
  return sources;
}

std::string Read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Layering, EveryIncludeIsInTheTable) {
  const fs::path root = Root();
  const std::vector<fs::path> sources = Sources(root);
  ASSERT_GT(sources.size(), 60u) << "the tree was not found from " << root;
  for (const fs::path& source : sources) {
    for (const std::string& violation :
         CheckSource(source.lexically_relative(root).string(), Read(source)))
      ADD_FAILURE() << violation;
  }
}

TEST(Layering, DeviceCodeStandsWhereItBelongs) {
  const fs::path root = Root();
  for (const fs::path& source : Sources(root)) {
    for (const std::string& violation :
         CheckDeviceCode(source.lexically_relative(root).string(), Read(source)))
      ADD_FAILURE() << violation;
  }
}

TEST(Layering, LinesFitTheScreen) {
  const fs::path root = Root();
  for (const fs::path& source : Sources(root)) {
    for (const std::string& violation :
         CheckLines(source.lexically_relative(root).string(), Read(source)))
      ADD_FAILURE() << violation;
  }
}

TEST(Layering, MessagesAreMadeWhereTheyAreThrown) {
  const fs::path root = Root();
  for (const fs::path& source : Sources(root)) {
    const std::string path = source.lexically_relative(root).string();
    const auto within = [&](const char* folder) { return path.starts_with(folder); };
    if (within("tests/")) continue;
    for (const std::string& violation : CheckMessages(path, Read(source)))
      ADD_FAILURE() << violation;
  }
}

TEST(Layering, AHeadersNamesAreItsOwn) {
  const fs::path root = Root();
  std::map<std::string, std::string> places;
  for (const fs::path& source : Sources(root)) {
    const std::string path = source.lexically_relative(root).string();
    if (!path.ends_with(".h") || path.starts_with("tests/")) continue;
    for (const std::string& name : NamesOf(Read(source))) {
      const auto [place, fresh] = places.emplace(name, path);
      if (!fresh && place->second != path)
        ADD_FAILURE() << name << " is defined in " << place->second << " and in " << path;
    }
  }
  EXPECT_GT(places.size(), 500u);
}

// What an application links has every model's folder.
// RunMain, or a function of the tools that calls it: what must hold before a program's first line
// does is in one place (run_main.h).
TEST(Layering, EveryProgramOfTheToolsBeginsInTheCommonFrame) {
  const fs::path root = Root();
  std::map<std::string, std::string> programs;  // with a main
  std::set<std::string> frames{"RunMain"};
  const std::regex function("\\bint (\\w+Main)\\(");
  for (const fs::path& source : Sources(root)) {
    const std::string path = fs::relative(source, root).string(), text = Read(source);
    if (!path.starts_with("tools/") || source.extension() != ".cc") continue;
    if (text.find("int main(") != text.npos) programs[path] = text;
    if (text.find("RunMain(") == text.npos) continue;
    for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at)
      frames.insert((*at)[1]);
  }
  ASSERT_GT(programs.size(), 20u);
  const std::regex framed("\\b(\\w+Main)\\(");
  for (const auto& [path, text] : programs) {
    // Applications that embed the library, what the build runs, and a rank that a student's code
    // may end.
    if (path.starts_with("tools/examples/") || path.starts_with("tools/install/") ||
        path.starts_with("tools/bench/libtorch/") || path.ends_with("/rank/rank_main.cc"))
      continue;
    bool found = false;
    for (std::sregex_iterator at(text.begin(), text.end(), framed), end; at != end; ++at)
      found = found || frames.contains((*at)[1]);
    EXPECT_TRUE(found) << path << " calls none of the frames";
  }
}

TEST(Layering, ThePublicTargetListsAllModels) {
  const fs::path root = Root();
  const std::string build = Read(root / "BUILD");
  int models = 0;
  for (const auto& entry : fs::directory_iterator(root / "models")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name == "nn") continue;
    ++models;
    EXPECT_NE(build.find("\"//models:" + name + "/"), std::string::npos) << name;
  }
  EXPECT_GE(models, 8);
}

// The others hold kernels alone, in torus::cpu.
bool DeclaresOps(const fs::path& family) {
  for (const auto& entry : fs::directory_iterator(family))
    if (entry.path().extension() == ".h" &&
        Read(entry.path()).find("\nnamespace torus::ops {\n") != std::string::npos)
      return true;
  return false;
}

// And every family of ops.
TEST(Layering, ThePublicTargetListsAllOps) {
  const fs::path root = Root();
  const std::string build = Read(root / "BUILD");
  int families = 0;
  for (const auto& entry : fs::directory_iterator(root / "ops")) {
    if (!entry.is_directory() || !DeclaresOps(entry.path())) continue;
    ++families;
    const std::string name = entry.path().filename().string();
    EXPECT_NE(build.find("\"//ops:" + name + "\""), std::string::npos) << name;
  }
  EXPECT_GE(families, 16);
}

}  // namespace
}  // namespace torus::layering
