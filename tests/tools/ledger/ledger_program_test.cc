// The ledger, run as a user runs it.
#include "runtime/on_device.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class LedgerTest : public ProgramTest {
 protected:
  Ended Ledger(std::vector<std::string> arguments) const {
    return Program("tools/ledger/ledger", arguments, scratch_).Wait();
  }
};

// Before anything is counted, and in builds that cannot count.
TEST_F(LedgerTest, AFileThatCannotBeWrittenIsRefusedFirst) {
  const Ended ended = Ledger({"--step", "resnet18:128x32", "--json", "/nowhere/launches.json"});
  ExpectOneLine(ended, 2, "--json /nowhere/launches.json: there is no folder /nowhere");
  EXPECT_EQ(ended.out, "");
}

TEST_F(LedgerTest, TheFileHasWhatThePredictionUses) {
#ifdef TORUS_SANITIZER
  GTEST_SKIP() << "two sanitizers do not go together";
#endif
  if (!kEmulatedGpu) GTEST_SKIP() << "there are instrumented kernels for emulated GPUs alone";
  const Ended ended =
      Ledger({"--step", "resnet18:128x32", "--counts", "--json", scratch_ + "/launches.json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.err.find("wrote " + scratch_ + "/launches.json"), std::string::npos) << ended.err;
  std::istringstream counts(ended.out);
  std::string step;
  int64_t launches = 0, over_bus = 0, counted = 0;
  counts >> step >> launches;
  const nlohmann::json all = Json("launches.json");
  for (const nlohmann::json& launch : all.at("resnet18:128x32")) {
    counted += launch["launches"].get<int64_t>();
    over_bus += launch["over_bus"].get<int64_t>();
  }
  EXPECT_EQ(counted, launches);
  // At least the images are copied from the CPU's memory.
  EXPECT_GE(over_bus, 128 * 3 * 32 * 32 * 4);
}

}  // namespace
}  // namespace torus::tools::testing
