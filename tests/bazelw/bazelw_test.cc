// bazelw on machines that are not this one: PATH holds stand-ins for the package manager, sudo and
// Bazel.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/command.h"

namespace torus {
namespace {

namespace fs = std::filesystem;

using testing::Outcome;

class Bazelw : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(bin_);
    fs::create_directories(bin_);
    for (const char* tool : {"bash", "env", "dirname", "grep", "sort", "comm", "sed", "tr"})
      fs::create_symlink(fs::path("/usr/bin") / tool, bin_ / tool);
    Tool("bazel", "echo bazel \"$@\"");
    Tool("id", "echo 0");
  }

  void Tool(const std::string& name, const std::string& body) {
    std::ofstream(bin_ / name) << "#!/usr/bin/bash\n" << body << "\n";
    fs::permissions(bin_ / name, fs::perms::owner_all);
  }

  // A Debian that has every package but `missing`.
  void Debian(const std::string& missing) {
    Tool("dpkg-query", "shift 2; for p in \"$@\"; do [ $p = '" + missing +
                           "' ] || echo \"$p installed\"; done; [ -z '" + missing + "' ]");
    Tool("apt-get", "echo apt-get \"$@\" >&2");
  }

  Outcome RunWith(const std::string& arguments) {
    const std::string script = std::string(std::getenv("TEST_SRCDIR")) + "/torus/bazelw";
    const std::string command =
        "unset BAZEL_STARTUP; HOME=/nonexistent TORUS_DATA=/d TORUS_CASES=/c PATH=" +
        bin_.string() + " " + script + " " + arguments + " 2>&1";
    return testing::RunCommand(command);
  }

  const fs::path bin_ = fs::path(::testing::TempDir()) / "bazelw_bin";
};

const char kTest[] = "bazel test --disk_cache=/nonexistent/.cache/torus-bazel //x --y\n";

TEST_F(Bazelw, GoesStraightToBazelWhenNothingIsMissing) {
  Debian("");
  const Outcome outcome = RunWith("test //x --y");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, kTest);
  EXPECT_EQ(RunWith("version").output, "bazel version\n");
  EXPECT_EQ(RunWith("").output, "bazel help\n");
}

TEST_F(Bazelw, InstallsWhatIsMissingAndNoMore) {
  Debian("libfmt-dev");
  const Outcome outcome = RunWith("test //x --y");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output,
            std::string("bazelw: installing libfmt-dev\napt-get update -qq\n"
                        "apt-get install -y -qq --no-install-recommends libfmt-dev\n") +
                kTest);
}

// Bazel starts in the checkout; what the user means are paths from where he stands.
TEST_F(Bazelw, TellsProgramsWhereTheUserStandsAndHowTheyWereStarted) {
  Debian("");
  Tool("bazel", "echo \"$TORUS_WORKING_DIRECTORY | $TORUS_STARTED_AS\"");
  const std::string output = RunWith("run --config=cuda //tools:train -- --lr 1").output;
  const std::string here = fs::current_path().string();
  EXPECT_EQ(output.substr(0, here.size() + 3), here + " | ");
  EXPECT_NE(output.find("/bazelw run --config=cuda //tools:train --\n"), std::string::npos)
      << output;
  EXPECT_EQ(RunWith("build //tools:train").output, here + " | \n");
}

// A user of a program needs neither GoogleTest nor the tool that formats.
TEST_F(Bazelw, InstallsWhatOnlyTestsNeedBeforeTestsAlone) {
  for (const char* package : {"libgtest-dev", "clang-format"}) {
    Debian(package);
    const std::string installs = std::string("bazelw: installing ") + package;
    for (const char* command :
         {"test //x", "build //...", "build //tests/runtime/...", "coverage //x"})
      EXPECT_NE(RunWith(command).output.find(installs), std::string::npos) << command;
    for (const char* command :
         {"run //tools:train", "build //tools:train", "run //tools:grade -- //tests", "version"})
      EXPECT_EQ(RunWith(command).output.find("installing"), std::string::npos) << command;
  }
}

TEST_F(Bazelw, UsesSudoWhereNotRoot) {
  Debian("libfmt-dev");
  Tool("id", "echo 1000");
  Tool("sudo", "echo sudo >&2; exec \"$@\"");
  const Outcome outcome = RunWith("test //x --y");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("sudo\napt-get install"), std::string::npos) << outcome.output;
}

TEST_F(Bazelw, WithoutSudoSaysWhatIsMissing) {
  Debian("libfmt-dev");
  Tool("id", "echo 1000");
  const Outcome outcome = RunWith("test //x");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output,
            "bazelw: these packages are missing, and installing them needs root or sudo: "
            "libfmt-dev\n");
}

TEST_F(Bazelw, FailedInstallEndsWithAStatus) {
  Debian("libfmt-dev");
  Tool("apt-get", "exit 100");
  const Outcome outcome = RunWith("test //x");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("bazelw: apt-get could not install these packages: libfmt-dev\n"),
            std::string::npos);
}

TEST_F(Bazelw, ElsewhereThanDebianSaysWhatIsNeededAndGoesOn) {
  const Outcome outcome = RunWith("test //x --y");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.output.starts_with("bazelw: this is no Debian or Ubuntu; it needs what "))
      << outcome.output;
  EXPECT_NE(outcome.output.find(" libfmt-dev "), std::string::npos);
  EXPECT_TRUE(outcome.output.ends_with(kTest));
}

TEST_F(Bazelw, WithoutBazelSaysSo) {
  Debian("");
  fs::remove(bin_ / "bazel");
  const Outcome outcome = RunWith("test //x");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output, "bazelw: there is no bazel in PATH\n");
}

}  // namespace
}  // namespace torus
