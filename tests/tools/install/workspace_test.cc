// Another Bazel workspace, as docs/embedding.md describes it: the files are those of the page. All
// of it is analysed, and a library of Torus is compiled with that workspace's own options.
#include "tests/testing/program.h"
#include "tests/testing/source_tree.h"
#include "tests/tools/install/page_block.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

class Workspace : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v bazel > /dev/null") != 0) GTEST_SKIP() << "no bazel: NOT tested";
    folder_ = fs::path(::testing::TempDir() + "own_workspace").lexically_normal();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) Bazel("shutdown");
  }
  void Write(const std::string& name, const std::string& text) const {
    EXPECT_NE(text, "") << name << " is not on the page";
    std::ofstream(folder_ + "/" + name) << text;
  }
  // With the startup options of the Bazel that runs this test: the machine may need them.
  Ended Bazel(const std::string& command) const {
    return Program(
               "/bin/sh",
               {"-c",
                "cd " + folder_ +
                    " && exec bazel $BAZEL_STARTUP --host_jvm_args=-Xmx800m --output_user_root=" +
                    folder_ + "_out " + command},
               ::testing::TempDir())
        .Wait();
  }
  std::string folder_;
};

const std::string kOwnFmt =
    "new_local_repository(name = \"fmt\", path = \"/usr/include/fmt\", build_file_content = "
    "'cc_library(name = \"fmt\", linkopts = [\"-lfmt\"], visibility = "
    "[\"//visibility:public\"])')\n";

TEST_F(Workspace, BuildsWhatTheGuideSays) {
  const fs::path root = torus::testing::SourceRoot();
  const std::string page = ReadText(root / "docs/embedding.md");
  std::string workspace = PageBlock(page, "local_repository(");
  const std::string place = "/path/to/torus";
  ASSERT_NE(workspace.find(place), std::string::npos) << workspace;
  workspace.replace(workspace.find(place), place.size(), root.string());
  // It has a repository of its own that Torus has too, and keeps it.
  Write("WORKSPACE", kOwnFmt + workspace);
  Write("BUILD", PageBlock(page, "cc_binary("));
  Write("own.cc", PageBlock(page, "#include <torus/torus.h>"));
  const Ended analysed = Bazel("build --nobuild //:own");
  EXPECT_EQ(analysed.status, 0) << analysed.err;
  const Ended built = Bazel("build --spawn_strategy=local @torus//runtime:error");
  EXPECT_EQ(built.status, 0) << built.err;
}

}  // namespace
}  // namespace torus::tools::testing
