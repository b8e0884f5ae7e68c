#include "recipes/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

std::string Refusal(const EvaluateOptions& options) {
  try {
    Evaluate(options);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "none";
}

// Before any data are read.
TEST(Evaluate, RefusesWhatIsMissingOrOutOfRange) {
  EXPECT_EQ(Refusal({.model = "resnet18", .data_dir = "/nowhere"}),
            "[evaluate] needs weights: --init FILE or a folder of Hugging Face's");
  EXPECT_EQ(Refusal({.model = "resnet18", .init = "w.safetensors", .batch = -1}),
            "[evaluate] --batch-size must not be negative, got -1");
}

}  // namespace
}  // namespace torus::recipes
