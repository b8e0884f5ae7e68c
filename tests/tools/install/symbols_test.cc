// What the shared library exports is what its list says: a program that is linked to libtorus.so.N
// runs with every later one of that number.
//   symbols_test FOUND LISTED
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

std::vector<std::string> arguments;

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

std::string Missing(const std::vector<std::string>& from, const std::vector<std::string>& in) {
  std::vector<std::string> missing;
  std::ranges::set_difference(in, from, std::back_inserter(missing));
  std::string text;
  for (const std::string& line : missing) text += line + "\n";
  return text;
}

// What makes the list LISTED anew where FOUND was built.
std::string Commands(const std::string& found, const std::string& listed) {
  const std::filesystem::path file(found);
  return "  ./bazelw build //tools/install:" + file.stem().string() +
         "\n  cp --no-preserve=mode bazel-bin/tools/install/" + file.filename().string() + " " +
         listed;
}

TEST(Symbols, AreListedAnewByCommands) {
  EXPECT_EQ(Commands("bazel-out/k8/bin/tools/install/torus_mpi_public_symbols.txt",
                     "tools/install/abi/torus_mpi.0.txt"),
            "  ./bazelw build //tools/install:torus_mpi_public_symbols\n"
            "  cp --no-preserve=mode bazel-bin/tools/install/torus_mpi_public_symbols.txt "
            "tools/install/abi/torus_mpi.0.txt");
}

TEST(Symbols, AreThoseThatAreListed) {
  ASSERT_EQ(arguments.size(), 3u);
  const auto found = Lines(arguments[1]), listed = Lines(arguments[2]);
  EXPECT_GT(found.size(), 10u);
  EXPECT_EQ(Missing(found, listed), "")
      << "These were removed or changed, so programs that use them no longer start: the library "
         "needs a new number (SONUMBER in tools/install/BUILD), and a list of that name.";
  EXPECT_EQ(Missing(listed, found), "") << "These are new: add them to " << arguments[2] << " by\n"
                                        << Commands(arguments[1], arguments[2]);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  arguments.assign(argv, argv + argc);
  return RUN_ALL_TESTS();
}
