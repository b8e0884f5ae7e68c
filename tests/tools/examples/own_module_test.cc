// The example of an own module and its training loop, built and run.
#include <cstdlib>

#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class OwnModule : public ProgramTest {
 protected:
  Ended Train(const std::string& folder, const std::string& epochs) const {
    return Program("tools/examples/own_module", {scratch_ + "/" + folder, epochs}, scratch_).Wait();
  }
};

TEST_F(OwnModule, LearnsWithItsRunningStatistics) {
  const Ended ended = Train("whole", "8");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const size_t at = ended.out.find("best accuracy ");
  ASSERT_NE(at, std::string::npos) << ended.out;
  // By chance it is 0.33, also after training with running statistics that have not changed.
  EXPECT_GT(std::atof(ended.out.c_str() + at + 14), 0.9) << ended.out;
}

TEST_F(OwnModule, GoesOnWhereItEnded) {
  const Ended whole = Train("whole", "4");
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(Train("parts", "2").status, 0);
  EXPECT_EQ(Train("parts", "4").status, 0);
  for (const std::string file : {"/last.safetensors", "/best.safetensors"})
    EXPECT_EQ(ReadText(scratch_ + "/parts" + file), ReadText(scratch_ + "/whole" + file)) << file;
}

}  // namespace
}  // namespace torus::tools::testing
