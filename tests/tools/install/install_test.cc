// An installation as its users have it: examples built by CMake and by pkg-config, run, moved and
// removed. Skips where there are no CMake, ninja or pkg-config.
#include <regex>

#include "autograd/node.h"
#include "data/images/normalization.h"
#include "models/checkpoint/state_dict.h"
#include "models/resnet/resnet.h"
#include "ops/softmax/softmax.h"
#include "tests/testing/command.h"
#include "tests/testing/program.h"
#include "tests/testing/source_tree.h"
#include "tests/tools/install/page_block.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

using torus::testing::Outcome;

// With both streams.
Outcome Shell(const std::string& command) {
  return torus::testing::RunCommand("{ " + command + "\n} 2>&1");
}

std::string Must(const std::string& command) {
  const Outcome outcome = Shell(command);
  EXPECT_EQ(outcome.status, 0) << command << "\n" << outcome.output;
  return outcome.output;
}

bool Has(const std::string& program) { return Shell("command -v " + program).status == 0; }

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
  // What pkg-config says when asked by `flags`.
  std::string Asked(const std::string& flags) const {
    return Must("PKG_CONFIG_PATH=" + prefix_ + "/lib/pkgconfig pkg-config " + flags);
  }
  // Compiles an example by what pkg-config says of `package`.
  std::string ByPkgConfig(const std::string& example, const std::string& package) const {
    const std::string program = scratch_ + "/" + example + "_pc";
    Must("export PKG_CONFIG_PATH=" + prefix_ + "/lib/pkgconfig; g++ -O1 " + prefix_ +
         "/share/torus/examples/" + example + ".cc $(pkg-config --cflags --libs " + package +
         ") -Wl,-rpath," + prefix_ + "/lib -o " + program);
    return program;
  }
  // Configures a project of the lines, which have found Torus by `request` if it says so.
  Outcome Configured(const std::string& request, const std::string& lines = "") const {
    const std::string folder = scratch_ + "/asks";
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder + "/CMakeLists.txt")
        << "cmake_minimum_required(VERSION 3.20)\nproject(asks CXX)\nfind_package(Torus " << request
        << ")\n"
        << lines << "\n";
    return Shell("cmake -G Ninja -S " + folder + " -B " + folder +
                 "/build -DCMAKE_PREFIX_PATH=" + prefix_);
  }
  std::string scratch_, prefix_;
};

// A photograph of one colour, as large as the service crops, and the class that the model finds.
struct Photograph {
  std::string path;
  int64_t best;
  float score;
};

Photograph Take(nn::Module& model, const std::string& folder, int brightness) {
  const std::string path = folder + "/" + std::to_string(brightness) + ".ppm";
  std::ofstream(path, std::ios::binary)
      << "P6\n256 256\n255\n"
      << std::string(256 * 256 * 3, static_cast<char>(brightness));
  const data::Normalizer normalizer(
      {.mean = {0.485f, 0.456f, 0.406f}, .std = {0.229f, 0.224f, 0.225f}});
  const Tensor image = normalizer.Apply(Full({224, 224, 3}, brightness, DType::kU8));
  const NoGrad no_grad;
  const Variable logits =
      model.Forward(Variable(image.View({1, 224, 224, 3})), {.training = false});
  const auto scores = ToVector<float>(ops::Softmax(logits, -1).data());
  const auto best = std::ranges::max_element(scores);
  return {path, best - scores.begin(), *best};
}

// The built service answers four requests by three threads, and one that is no image.
void ExpectServes(const std::string& program, const std::string& scratch) {
  const auto model = ResNet({.depth = 18});
  model->Initialize(/*seed=*/3);
  SaveModel(*model, scratch + "/resnet18.safetensors");
  std::string requests = scratch + "/none.ppm";
  std::vector<Photograph> photographs;
  for (const int brightness : {10, 90, 160, 250}) {
    photographs.push_back(Take(*model, scratch, brightness));
    requests += "\n" + photographs.back().path;
  }
  std::ofstream(scratch + "/requests") << requests << "\n";
  std::map<std::string, std::string> answers;
  std::istringstream lines(
      Must(program + " " + scratch + "/resnet18.safetensors 3 < " + scratch + "/requests"));
  for (std::string path, answer; lines >> path && std::getline(lines, answer);)
    answers[path] = answer;
  EXPECT_EQ(answers.size(), 5u) << lines.str();
  for (const Photograph& photograph : photographs) {
    std::istringstream answer(answers[photograph.path]);
    int64_t best = -1;
    float score = 0;
    answer >> best >> score;
    EXPECT_EQ(best, photograph.best) << answer.str();
    // Printed with six digits after the point.
    EXPECT_NEAR(score, photograph.score, 1e-6) << answer.str();
  }
  EXPECT_NE(answers[scratch + "/none.ppm"].find("none.ppm"), std::string::npos) << lines.str();
}

// Moved, since nothing in it names the place where it was put; and the first place is gone.
TEST_F(Installed, ServesCMake) {
  fs::rename(prefix_, scratch_ + "/second");
  prefix_ = scratch_ + "/second";
  const std::string build = scratch_ + "/build";
  Must("cmake -G Ninja -S " + prefix_ + "/share/torus/examples -B " + build +
       " -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_PREFIX_PATH=" + prefix_);
  Must("cmake --build " + build);
  for (const char* example : {"fine_tune_resnet", "generate_text", "train_mpi"})
    EXPECT_TRUE(fs::exists(build + "/" + example)) << example;
  const std::string learned = Must(build + "/mlp_regression " + scratch_ + "/m.safetensors");
  EXPECT_NE(learned.find("sin 1 = 0.8"), std::string::npos) << learned;
  EXPECT_NE(Must(build + "/two_stage").find("step 2000 loss 0.0"), std::string::npos);
  const std::string trained = Must(build + "/own_module " + scratch_ + "/own 8");
  EXPECT_NE(trained.find("best accuracy 0.9"), std::string::npos) << trained;
  ExpectServes(build + "/inference_service", scratch_);
  const Outcome refused = Shell(build + "/inference_service nowhere 2 < /dev/null");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.output.find("[nowhere]"), std::string::npos) << refused.output;
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

// As they lie below the prefix; of the source tree's pages, only these are there.
TEST_F(Installed, PagesLinkToWhatIsInstalled) {
  const fs::path folder = prefix_ + "/share/torus/doc";
  const std::regex link(R"(\]\(([^() ]+\.(?:h|md))\))");
  int links = 0;
  for (const char* name : {"api.md", "embedding.md", "pytorch_users.md"}) {
    const std::string page = ReadText(folder / name);
    EXPECT_GT(page.size(), 1000u) << name;
    EXPECT_EQ(page.find("<!--"), std::string::npos) << name;
    for (std::sregex_iterator at(page.begin(), page.end(), link), end; at != end; ++at, ++links)
      EXPECT_TRUE(fs::exists(folder / at->str(1))) << name << " links to " << at->str(1);
  }
  EXPECT_GT(links, 150);
}

TEST_F(Installed, IsLinkedWholeIntoAProgram) {
  const std::string source = prefix_ + "/share/torus/examples/mlp_regression.cc";
  const Outcome configured =
      Configured("REQUIRED", "add_executable(alone " + source +
                                 ")\ntarget_link_libraries(alone PRIVATE torus::static)");
  ASSERT_EQ(configured.status, 0) << configured.output;
  Must("cmake --build " + scratch_ + "/asks/build");
  const std::string program = scratch_ + "/asks/build/alone";
  EXPECT_EQ(Must("readelf -d " + program).find("libtorus"), std::string::npos);
  const std::string learned = Must(program + " " + scratch_ + "/m.safetensors");
  EXPECT_NE(learned.find("sin 1 = 0.8"), std::string::npos) << learned;
}

// One line and a status, no signal, before any initialiser of the library or of the archive's
// objects that uses AVX2.
TEST_F(Installed, TellsAnOldProcessor) {
#ifndef __x86_64__
  GTEST_SKIP() << "only x86-64 has processors that are too old";
#endif
  if (!Has("qemu-x86_64"))
    GTEST_SKIP()
        << "NOT CHECKED: there is no qemu-x86_64 (package qemu-user), so nothing here says "
           "what a program with the installed library does on a processor that is too old";
  const std::string source = prefix_ + "/share/torus/examples/mlp_regression.cc";
  const Outcome configured =
      Configured("REQUIRED", "add_library(object OBJECT " + source +
                                 ")\n"
                                 "target_link_libraries(object PRIVATE torus::torus)\n"
                                 "add_executable(with_library $<TARGET_OBJECTS:object>)\n"
                                 "target_link_libraries(with_library PRIVATE torus::torus)\n"
                                 "add_executable(with_archive $<TARGET_OBJECTS:object>)\n"
                                 "target_link_libraries(with_archive PRIVATE torus::static)");
  ASSERT_EQ(configured.status, 0) << configured.output;
  Must("cmake --build " + scratch_ + "/asks/build");
  for (const std::string program : {"with_library", "with_archive"}) {
    const Outcome outcome = Shell("qemu-x86_64 -cpu Nehalem " + scratch_ + "/asks/build/" +
                                  program + " " + scratch_ + "/m.safetensors");
    EXPECT_EQ(outcome.status, 1) << program << "\n" << outcome.output;
    EXPECT_EQ(outcome.output.find("torus: this processor is too old: x86-64-v3 "), 0u)
        << program << "\n"
        << outcome.output;
    EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << program << "\n" << outcome.output;
  }
  EXPECT_FALSE(fs::exists(scratch_ + "/m.safetensors"));
}

TEST_F(Installed, IsFoundByVersionsThatItMeets) {
  for (const char* request : {"REQUIRED", "0 REQUIRED", "0.1 REQUIRED", "0.1...1 REQUIRED"}) {
    const Outcome found = Configured(request);
    EXPECT_EQ(found.status, 0) << request << "\n" << found.output;
  }
  for (const char* request :
       {"1 REQUIRED", "0.0 REQUIRED", "0.2 REQUIRED", "0.1.99 REQUIRED", "0.0...<0.1 REQUIRED"})
    EXPECT_EQ(Configured(request).status, 1) << request;
}

TEST_F(Installed, IsFoundWithItsComponents) {
  const Outcome found = Configured(
      "0.1 REQUIRED COMPONENTS torus recipes mpi OPTIONAL_COMPONENTS other",
      "if(Torus_other_FOUND OR NOT Torus_mpi_FOUND)\n  message(FATAL_ERROR no)\nendif()");
  EXPECT_EQ(found.status, 0) << found.output;
  const Outcome lacking = Configured("0.1 REQUIRED COMPONENTS recipes other");
  EXPECT_EQ(lacking.status, 1);
  EXPECT_NE(lacking.output.find("\"other\""), std::string::npos) << lacking.output;
}

TEST_F(Installed, ServesPkgConfig) {
  const std::string learned =
      Must(ByPkgConfig("mlp_regression", "torus") + " " + scratch_ + "/m.safetensors");
  EXPECT_NE(learned.find("sin 1 = 0.8"), std::string::npos) << learned;
  const std::string trained = Must(ByPkgConfig("own_module", "torus") + " " + scratch_ + "/own 8");
  EXPECT_NE(trained.find("best accuracy 0.9"), std::string::npos) << trained;
  EXPECT_NE(Asked("--static --libs torus").find("-ldnnl"), std::string::npos);
  EXPECT_NE(Asked("--static --libs torus_mpi").find("-lmpi"), std::string::npos);
  EXPECT_EQ(Asked("--static --libs torus_recipes").find("-lmpi"), std::string::npos);
  if (!Has("mpirun")) return;
  const std::string program = ByPkgConfig("train_mpi", "torus_mpi");
  const std::string trained =
      Must("mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 " + program);
  EXPECT_NE(trained.find("step 2000 loss 0.0"), std::string::npos) << trained;
}

// The core's library, without debug information, and what it needs. 10 MB is what is asked of it,
// and it has 9.9.
TEST_F(Installed, IsSmall) {
  const std::string library = prefix_ + "/lib/libtorus.so";
  EXPECT_LT(fs::file_size(library), 10'000'000u);
  const std::string needed = Must("readelf -d " + library);
  EXPECT_NE(needed.find("SONAME"), std::string::npos) << needed;
  for (const char* other : {"libmpi", "libcuda", "libprotobuf"})
    EXPECT_EQ(needed.find(other), std::string::npos) << needed;
}

// Who loads one of them by its path, as a plug-in, has the core with it.
TEST_F(Installed, FindsItsOwnLibrariesBesideIt) {
  for (const char* name : {"recipes", "mpi"}) {
    const std::string dynamic = Must("readelf -d " + prefix_ + "/lib/libtorus_" + name + ".so");
    EXPECT_NE(dynamic.find("RUNPATH"), std::string::npos) << dynamic;
    EXPECT_NE(dynamic.find("[$ORIGIN"), std::string::npos) << dynamic;
  }
}

TEST_F(Installed, IsRemovedWhole) {
  std::ofstream(prefix_ + "/lib/other.txt") << "another's";
  Must("tools/install/install.sh --uninstall --prefix " + prefix_);
  EXPECT_FALSE(fs::exists(prefix_ + "/include"));
  EXPECT_FALSE(fs::exists(prefix_ + "/share"));
  EXPECT_TRUE(fs::exists(prefix_ + "/lib/other.txt"));
  EXPECT_FALSE(fs::exists(prefix_ + "/lib/libtorus.a"));
}

}  // namespace
}  // namespace torus::tools::testing
