// What changes while a program runs is in one of the libraries alone: a thread's counter of
// progress, say, which an op of libtorus ticks, is the one that libtorus_recipes has attached.
//   state_test LIST, of lines SYMBOL ARCHIVE (tools/install/list_state.sh)
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

std::string list;

std::map<std::string, std::vector<std::string>> ArchivesOfSymbols() {
  std::ifstream file(list);
  EXPECT_TRUE(file) << list;
  std::map<std::string, std::vector<std::string>> archives;
  for (std::string symbol, archive; file >> symbol >> archive;) archives[symbol].push_back(archive);
  return archives;
}

TEST(State, IsInOneLibraryOnly) {
  for (const auto& [symbol, archives] : ArchivesOfSymbols())
    EXPECT_EQ(archives.size(), 1u) << symbol << " is in " << archives.front() << " and "
                                   << archives.back() << ": define it in a source, not in a header";
}

TEST(State, OfThreadsProgressIsTheCores) {
  const auto archives = ArchivesOfSymbols();
  const auto found = archives.find("_ZN5torus15thread_progressE");
  ASSERT_NE(found, archives.end());
  EXPECT_EQ(found->second, std::vector<std::string>{"libtorus.a"});
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2) list = argv[1];
  return RUN_ALL_TESTS();
}
