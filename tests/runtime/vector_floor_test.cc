#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/testing/command.h"

namespace torus {
namespace {

using testing::Outcome;

Outcome RunCommand(const std::string& command) { return testing::RunCommand(command + " 2>&1"); }

std::string Probe() {
  return std::string(std::getenv("TEST_SRCDIR")) + "/torus/tests/runtime/vector_floor_probe";
}

class VectorFloor : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef TORUS_SANITIZER
    GTEST_SKIP() << "a sanitizer's own start does not run under qemu";
#endif
    if (std::system("command -v qemu-x86_64 >/dev/null") != 0)
      GTEST_SKIP() << "qemu-x86_64 (package qemu-user) is not installed";
  }

  Outcome RunOn(const std::string& processor) {
    return RunCommand("qemu-x86_64 -cpu " + processor + " " + Probe());
  }
};

TEST_F(VectorFloor, ThisMachinePasses) {
  const Outcome outcome = RunCommand(Probe());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "ran: 12 12 1\n");
}

TEST_F(VectorFloor, EmulatedMachineWithAvx2Passes) {
  const Outcome outcome = RunOn("max");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("ran: 12 12 1\n"), std::string::npos) << outcome.output;
}

// One line and a status, no signal, although initialisers use AVX2.
void ExpectRefused(const Outcome& outcome, const std::string& lacks) {
  EXPECT_EQ(outcome.status, 1);
  const size_t at = outcome.output.find("torus: this processor is too old: x86-64-v3 ");
  ASSERT_NE(at, std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("lacks" + lacks), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("ran:"), std::string::npos);
}

TEST_F(VectorFloor, NehalemIsToldSo) {
  ExpectRefused(RunOn("Nehalem"), " AVX AVX2 FMA BMI1 BMI2 F16C LZCNT MOVBE OSXSAVE\n");
}

TEST_F(VectorFloor, AvxAloneIsNotEnough) { ExpectRefused(RunOn("max,avx2=off"), " AVX2\n"); }

TEST_F(VectorFloor, FmaIsAskedForByItself) { ExpectRefused(RunOn("max,fma=off"), " FMA\n"); }

}  // namespace
}  // namespace torus
