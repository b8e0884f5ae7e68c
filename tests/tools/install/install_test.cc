// An installation as its users have it: examples built by CMake and by pkg-config, run, moved and
// removed. Skips where there are no CMake, ninja or pkg-config.
#include "tests/testing/program.h"
#include "tests/testing/source_tree.h"
#include "tests/tools/install/page_block.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

// The status of a shell's command, its output in `out`.
int Shell(const std::string& command, std::string& out) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  out.clear();
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Has(const std::string& program) {
  std::string out;
  return Shell("command -v " + program, out) == 0;
}

class Installed : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"cmake", "ninja", "pkg-config", "g++"})
      if (!Has(program)) GTEST_SKIP() << "no " << program << ": NOT tested";
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    scratch_ = fs::path(::testing::TempDir() + name).lexically_normal();
    fs::remove_all(scratch_);
    fs::create_directories(scratch_);
    prefix_ = scratch_ + "/first";
    Must("TORUS_PACKAGE=tools/install tools/install/install.sh --mpi --prefix " + prefix_);
  }
  std::string Must(const std::string& command) const {
    std::string out;
    EXPECT_EQ(Shell(command, out), 0) << command << "\n" << out;
    return out;
  }
  // Compiles an example by what pkg-config says of `package`.
  std::string ByPkgConfig(const std::string& example, const std::string& package) const {
    const std::string program = scratch_ + "/" + example + "_pc";
    Must("export PKG_CONFIG_PATH=" + prefix_ + "/lib/pkgconfig; g++ -O1 " + prefix_ +
         "/share/torus/examples/" + example + ".cc $(pkg-config --cflags --libs " + package +
         ") -Wl,-rpath," + prefix_ + "/lib -o " + program);
    return program;
  }
  std::string scratch_, prefix_;
};

// Moved, since nothing in it names the place where it was put; and the first place is gone.
TEST_F(Installed, ServesCMake) {
  fs::rename(prefix_, scratch_ + "/second");
  prefix_ = scratch_ + "/second";
  const std::string build = scratch_ + "/build";
  Must("cmake -G Ninja -S " + prefix_ + "/share/torus/examples -B " + build +
       " -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_PREFIX_PATH=" + prefix_);
  Must("cmake --build " + build);
  for (const char* example :
       {"fine_tune_resnet", "generate_text", "inference_service", "train_mpi"})
    EXPECT_TRUE(fs::exists(build + "/" + example)) << example;
  const std::string learned = Must(build + "/mlp_regression " + scratch_ + "/m.safetensors");
  EXPECT_NE(learned.find("sin 1 = 0.8"), std::string::npos) << learned;
  EXPECT_NE(Must(build + "/two_stage").find("step 2000 loss 0.0"), std::string::npos);
  std::string out;
  EXPECT_EQ(Shell(build + "/inference_service nowhere 2 < /dev/null", out), 1);
  EXPECT_NE(out.find("[nowhere]"), std::string::npos) << out;
}

// The program of docs/embedding.md, by the page's own CMakeLists.txt.
TEST_F(Installed, BuildsTheProgramOfTheGuide) {
  const std::string page = ReadText(torus::testing::SourceRoot() / "docs/embedding.md");
  const std::string lists = PageBlock(page, "cmake_minimum_required");
  const std::string program = PageBlock(page, "#include <torus/torus.h>");
  ASSERT_FALSE(lists.empty() || program.empty());
  std::ofstream(scratch_ + "/CMakeLists.txt") << lists;
  std::ofstream(scratch_ + "/own.cc") << program;
  Must("cmake -G Ninja -S " + scratch_ + " -B " + scratch_ +
       "/build -DCMAKE_PREFIX_PATH=" + prefix_);
  Must("cmake --build " + scratch_ + "/build");
  Must("cd " + scratch_ + " && build/own");
  EXPECT_TRUE(fs::exists(scratch_ + "/own.safetensors"));

  // And by its line for who has no CMake, where it says ~/torus.
  std::string line = PageBlock(page, "g++ -O2 own.cc");
  for (const std::string home : {"~/torus", "$HOME/torus"})
    for (size_t at; (at = line.find(home)) != line.npos;) line.replace(at, home.size(), prefix_);
  fs::remove(scratch_ + "/own.safetensors");
  Must("cd " + scratch_ + " && " + line.substr(0, line.find('\n')) + " && ./own");
  EXPECT_TRUE(fs::exists(scratch_ + "/own.safetensors"));
}

TEST_F(Installed, ServesPkgConfig) {
  const std::string learned =
      Must(ByPkgConfig("mlp_regression", "torus") + " " + scratch_ + "/m.safetensors");
  EXPECT_NE(learned.find("sin 1 = 0.8"), std::string::npos) << learned;
  if (!Has("mpirun")) return;
  const std::string program = ByPkgConfig("train_mpi", "torus_mpi");
  const std::string trained =
      Must("mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 " + program);
  EXPECT_NE(trained.find("step 2000 loss 0.0"), std::string::npos) << trained;
}

// The core's library, without debug information, and what it needs.
TEST_F(Installed, IsSmall) {
  const std::string library = prefix_ + "/lib/libtorus.so";
  EXPECT_LT(fs::file_size(library), 10'000'000u);
  const std::string needed = Must("readelf -d " + library);
  EXPECT_NE(needed.find("SONAME"), std::string::npos) << needed;
  for (const char* other : {"libmpi", "libcuda", "libprotobuf"})
    EXPECT_EQ(needed.find(other), std::string::npos) << needed;
}

TEST_F(Installed, IsRemovedWhole) {
  std::ofstream(prefix_ + "/lib/other.txt") << "another's";
  Must("tools/install/install.sh --uninstall --prefix " + prefix_);
  EXPECT_FALSE(fs::exists(prefix_ + "/include"));
  EXPECT_FALSE(fs::exists(prefix_ + "/share"));
  EXPECT_TRUE(fs::exists(prefix_ + "/lib/other.txt"));
  EXPECT_FALSE(fs::exists(prefix_ + "/lib/libtorus.a"));
  std::string out;
  EXPECT_EQ(Shell("tools/install/install.sh --uninstall --prefix " + prefix_, out), 2);
  EXPECT_NE(out.find("no installation"), std::string::npos) << out;
}

TEST_F(Installed, RefusesWhatItDoesNotKnow) {
  std::string out;
  EXPECT_EQ(Shell("tools/install/install.sh --prefx " + prefix_, out), 2);
  EXPECT_NE(out.find("--prefx"), std::string::npos) << out;
  EXPECT_EQ(Shell("tools/install/install.sh", out), 2);
  EXPECT_NE(out.find("usage"), std::string::npos) << out;
}

}  // namespace
}  // namespace torus::tools::testing
