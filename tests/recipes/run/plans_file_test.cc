// The file of choices: what is written is read, and nothing else is.
#include "recipes/run/plans_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/json.h"
#include "tests/testing/error_of.h"

namespace torus::recipes {
namespace {

using cuda::PlanOrigin;
using torus::testing::ErrorOf;

const PlanOrigin kHere{"NVIDIA H100 80GB HBM3", "130100", "91900"};
const cuda::PlanChoices kChoices{{"product a", {3, "algorithm 66", true}},
                                 {"convolution b", {0, "engine 12", false}}};

class PlansFile : public ::testing::Test {
 protected:
  PlansFile() { WritePlans(path_, {kHere, kChoices}); }
  // Writes the file as `change` makes it.
  void Edit(const std::function<void(nlohmann::json&)>& change) const {
    nlohmann::json json = io::ReadJsonObject(path_);
    change(json);
    std::ofstream(path_) << json.dump();
  }
  std::string Error() const {
    return ErrorOf([&] { ReadPlans(path_); });
  }

  const std::string path_ = ::testing::TempDir() + "/plans-0.json";
};

TEST_F(PlansFile, IsReadAsItWasWritten) {
  const StoredPlans plans = ReadPlans(path_);
  EXPECT_EQ(plans.origin, kHere);
  EXPECT_EQ(plans.choices, kChoices);
  EXPECT_EQ(ReadPlansFor(kHere, path_), kChoices);
}

TEST_F(PlansFile, IsReplacedAsAWhole) {
  WritePlans(path_, {kHere, {}});
  EXPECT_TRUE(ReadPlans(path_).choices.empty());
}

TEST_F(PlansFile, OfAnotherGpuOrLibraryIsRefusedAndBothAreNamed) {
  EXPECT_EQ(ErrorOf([&] {
              ReadPlansFor({"NVIDIA A100", "130100", "91900"}, path_);
            }),
            "[" + path_ +
                "] has choices for NVIDIA H100 80GB HBM3 with cuBLASLt 130100 and cuDNN 91900, and "
                "here is NVIDIA A100 with cuBLASLt 130100 and cuDNN 91900: other ones give other "
                "bits; --plans none goes on without them");
  for (const PlanOrigin& other :
       {PlanOrigin{kHere.gpu, "1", kHere.cudnn}, PlanOrigin{kHere.gpu, kHere.cublas_lt, "1"}})
    EXPECT_THROW(ReadPlansFor(other, path_), BadInput);
}

TEST_F(PlansFile, ThatWasChangedIsDamaged) {
  Edit([](auto& json) { json["choices"]["product a"]["index"] = 2; });
  const std::string error = Error();
  EXPECT_NE(error.find(path_ + "] is damaged: its sum is of"), std::string::npos) << error;
}

TEST_F(PlansFile, WithoutItsPartsIsNamed) {
  std::ofstream(path_) << "{\"version\": 1";
  EXPECT_NE(Error().find(path_), std::string::npos) << Error();
  WritePlans(path_, {kHere, kChoices});
  Edit([](auto& json) { json["version"] = 2; });
  EXPECT_EQ(Error(), "[" + path_ + "] must have version 1, got 2");
  WritePlans(path_, {kHere, kChoices});
  Edit([](auto& json) { json.erase("sum"); });
  EXPECT_NE(Error(), "no error");
  EXPECT_NE(ErrorOf([&] { ReadPlans(path_ + ".none"); }), "no error");
}

}  // namespace
}  // namespace torus::recipes
