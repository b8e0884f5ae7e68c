// The program train_with: what its exit status says of a ring.
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class TrainWith : public ProgramTest {
 protected:
  Ended Run(const std::string& ring) const {
    return Program("tools/labs/train_with/train_with",
                   {"--ring", ring, "--model", "cifar_resnet20", "--data-dir", scratch_ + "/data",
                    "--out", scratch_ + "/out", "--replicas", "3", "--batch-size", "12",
                    "--max-steps", "3", "--lr", "0.02"},
                   scratch_)
        .Wait();
  }
  const std::string faults_ = "tests/tools/labs/faults/ring/";
};

void ExpectEnd(const Ended& ended, int status, const std::string& says) {
  EXPECT_EQ(ended.status, status) << ended.err;
  EXPECT_NE(ended.out.find(says), std::string::npos) << "no \"" << says << "\" in " << ended.out;
}

TEST_F(TrainWith, ARightRingIsASuccess) {
  ExpectEnd(Run("tools/labs/build_it_yourself/solutions/ring.cc"), 0, "weights are equal");
  // Rounding is no fault.
  ExpectEnd(Run(faults_ + "whole_tensor.cc"), 0, "sums in another order");
}

TEST_F(TrainWith, AWrongRingIsNone) {
  ExpectEnd(Run(faults_ + "missing_average.cc"), 3, "A sum was wrong: on rank 0");
}

TEST_F(TrainWith, ARingThatThrowsIsNamed) {
  const Ended ended = Run("tests/tools/labs/train_with/rings/throws_in_third_sum.cc");
  EXPECT_EQ(ended.status, 2) << ended.out;
  EXPECT_NE(ended.err.find("AllReduceMean threw an exception"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace torus::tools::testing
