// Documents point to what is there, and tests stand where what they test does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "tests/layering/document_rules.h"
#include "tests/testing/source_tree.h"

namespace torus::layering {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const Words& Tops() {
  static const Words tops = {"autograd", "data",  "docs",  "models",      "ops",    "parallel",
                             "recipes",  "tests", "tools", "third_party", "runtime"};
  return tops;
}

// Stand for many, or are no files of the tree.
const std::set<std::string>& NotOfTheTree() {
  static const std::set<std::string> names = {"tests/ops/x_test.cc", "data/tinyshakespeare"};
  return names;
}

std::vector<fs::path> Pages() {
  std::vector<fs::path> pages = testing::SourceFiles("docs", {".md"});
  pages.insert(pages.end(), {"README.md", "CONTRIBUTING.md"});
  return pages;
}

TEST(Documents, LinksLeadToFiles) {
  const fs::path root = testing::SourceRoot();
  int links = 0;
  for (const fs::path& page : Pages())
    for (const std::string& link : LinksOf(testing::ReadText(root / page))) {
      // A lambda's [capture](Type) looks like one.
      if (link.find_first_of("./") == link.npos) continue;
      EXPECT_TRUE(fs::exists((root / page).parent_path() / link)) << page << " links to " << link;
      ++links;
    }
  EXPECT_GT(links, 30);
}

// Every decision has a name and stands in the index by topic exactly once.
TEST(Documents, DecisionsAreInTheirIndex) {
  const std::string page = testing::ReadText(testing::SourceRoot() / "docs/decisions.md");
  for (const std::string& section : UnnamedSectionsOf(page))
    ADD_FAILURE() << "docs/decisions.md: no line <a id=\"...\"></a> before: " << section;
  const Words anchors = AnchorsOf(page), links = InnerLinksOf(page);
  EXPECT_GT(anchors.size(), 200u);
  for (const std::string& anchor : anchors) {
    EXPECT_EQ(std::ranges::count(anchors, anchor), 1) << "decisions of the name " << anchor;
    EXPECT_EQ(std::ranges::count(links, anchor), 1) << "lines of the index for " << anchor;
  }
  for (const std::string& link : links)
    EXPECT_EQ(std::ranges::count(anchors, link), 1) << "the index has " << link;
}

// With or without the extension of a source.
bool IsThere(const fs::path& path) {
  for (const char* extension : {"", ".h", ".cc"})
    if (fs::exists(path.string() + extension)) return true;
  return false;
}

TEST(Documents, PathsAreThoseOfFiles) {
  const fs::path root = testing::SourceRoot();
  int paths = 0;
  for (const fs::path& page : Pages())
    for (const std::string& path : PathsOf(testing::ReadText(root / page), Tops())) {
      EXPECT_TRUE(NotOfTheTree().contains(path) || IsThere(root / path))
          << page << " speaks of " << path;
      ++paths;
    }
  EXPECT_GT(paths, 60);
}

// Folders of tests that have no folder of that name outside of tests/, and why.
const std::map<std::string, std::string>& RoomsOfTheirOwn() {
  static const std::map<std::string, std::string> rooms = {
      {"application", "an application of its own, as a user writes it"},
      {"bazelw", "of a file in the top folder"},
      {"fuzz", "damaged inputs for the readers of all rooms"},
      {"layering", "of the source tree"},
      {"runtime/cuda_api", "of the emulated CUDA API in tests/runtime"},
      {"tools/chain", "several programs, one behind the other"},
      {"tools/flags", "one table for all programs"},
  };
  return rooms;
}

TEST(Documents, TestsMirrorTheTree) {
  const fs::path root = testing::SourceRoot();
  std::set<std::string> rooms;
  for (const fs::path& file : testing::SourceFiles("tests", {".cc"}))
    if (file.string().ends_with("_test.cc"))
      rooms.insert(file.parent_path().lexically_relative("tests").string());
  ASSERT_GT(rooms.size(), 40u);
  for (const std::string& room : rooms)
    EXPECT_TRUE(RoomsOfTheirOwn().contains(room) || fs::is_directory(root / room))
        << "tests/" << room << " has tests, and there is no folder " << room;
  for (const auto& [room, why] : RoomsOfTheirOwn())
    EXPECT_TRUE(rooms.contains(room) && !fs::is_directory(root / room))
        << room << " is listed as an exception, and is none";
}

}  // namespace
}  // namespace torus::layering
