#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

TEST(AutogradGrading, GivesTheSolutionFullMarks) { ExpectFullMarks("autograd"); }

TEST(AutogradGrading, GivesTheTemplateLittle) { ExpectTemplateIsPoor("autograd"); }

TEST(AutogradGrading, FindsFaults) {
  ExpectFaults("autograd", {{"unbiased_variance", "forward", "a variance over width - 1"},
                            {"epsilon_outside_root", "forward", "outside of the root"},
                            {"missing_mean", "input", "without the mean of the gradients"},
                            {"missing_variance", "input", "goes through the variance"},
                            {"overwrites", "adds", "the gradient by x, 0 is"},
                            {"late_read", "own-data", "have been changed since the forward"},
                            {"one_pass_variance", "large-mean", "and should be"},
                            {"off_by_one_row", "weights", "the gradient by gamma, 0 is"},
                            {"keeps_too_much", "memory", "a backward keeps"},
                            {"leak", "leak", "though the backwards are gone"},
                            {"exception", "wanted", "no gradient of gamma"},
                            {"gamma_with_beta", "wanted", "the gradient by gamma, 0 is"}});
}

}  // namespace
}  // namespace torus::tools::labs::testing
