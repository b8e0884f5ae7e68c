// Models by name, begun from a folder.
#include "recipes/model/model_spec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

constexpr const char* kModel = "gpt-char:1";
constexpr int64_t kClasses = 5;

std::string ErrorOf(const std::string& weights, BodyNotes* notes) {
  try {
    BuildModel(kModel, kClasses, 1, weights, notes);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

// Weights of the right names and shapes say nothing of these.
TEST(BuildModel, RefusesAFolderOfAnotherFunction) {
  const std::string folder = ::testing::TempDir() + "/other";
  const auto saved = BuildModel(kModel, kClasses, 1, "");
  nlohmann::json config = ModelConfig(kModel, kClasses);
  BodyNotes notes;
  WriteHuggingFace(folder, {config, StateDict(*saved)});
  EXPECT_EQ(ErrorOf(folder, &notes), "no error");
  EXPECT_EQ(ErrorOf(folder, nullptr), "no error");
  config["n_head"] = 8;
  config["activation_function"] = "relu";
  WriteHuggingFace(folder, {config, StateDict(*saved)});
  for (BodyNotes* how : {&notes, static_cast<BodyNotes*>(nullptr)})
    EXPECT_NE(ErrorOf(folder, how)
                  .find("activation_function is \"relu\" and must be \"gelu\"; "
                        "n_head is 8 and must be 4"),
              std::string::npos);
}

}  // namespace
}  // namespace torus::recipes
