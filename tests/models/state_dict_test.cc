#include "models/checkpoint/state_dict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "models/mobilenet_v2/mobilenet_v2.h"
#include "runtime/error.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

std::shared_ptr<nn::Sequential> Model(uint64_t seed) {
  auto model = MobileNetV2({.num_classes = 3, .width_mult = 0.25});
  model->Initialize(seed);
  return model;
}

std::string ErrorOf(nn::Module& model, const std::vector<NamedTensor>& state) {
  return testing::ErrorOf([&] { LoadStateDict(model, state, "file"); });
}

bool SameBits(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor &x = a[i].value, &y = b[i].value;
    if (a[i].name != b[i].name || x.shape() != y.shape() || x.dtype() != y.dtype()) return false;
    if (std::memcmp(x.raw(), y.raw(), x.bytes()) != 0) return false;
  }
  return true;
}

TEST(StateDict, SavesAndLoadsEveryBit) {
  const auto saved = Model(1), loaded = Model(2);
  const std::string path = ::testing::TempDir() + "/model.safetensors";
  SaveModel(*saved, path);
  ASSERT_FALSE(SameBits(StateDict(*saved), StateDict(*loaded)));
  LoadModel(*loaded, path);
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
  EXPECT_EQ(ReadSafetensors(path).metadata.at("format"), "pt");
}

TEST(StateDict, ConvolutionWeightsLieInPyTorchsOrder) {
  const auto model = Model(1);
  const Tensor file = StateDict(*model)[0].value, ours = model->Parameters()[0].value.data();
  EXPECT_EQ(file.shape(), (Shape{8, 3, 3, 3}));
  for (int64_t o = 0; o < 8; ++o)
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(file.Select(0, o).Select(0, i).Select(0, 1).Select(0, 2).Item(),
                ours.Select(0, o).Select(0, 1).Select(0, 2).Select(0, i).Item());
  EXPECT_EQ(FromFileLayout(ToFileLayout(Empty({4, 3, 2, 5}))).shape(), (Shape{4, 3, 2, 5}));
}

TEST(StateDict, NamesAllThatDoesNotFitAtOnce) {
  const auto model = Model(1);
  std::vector<NamedTensor> state = StateDict(*model);
  const std::vector<NamedTensor> before = StateDict(*model);
  for (NamedTensor& tensor : state) {
    if (tensor.name == "classifier.1.bias") tensor.value = Zeros({4});
    if (tensor.name == "features.0.0.weight") tensor.name = "features.0.0.weigth";
  }
  state.push_back(state.back());
  const std::string error = ErrorOf(*model, state);
  EXPECT_NE(error.find("classifier.1.bias is f32 (4) and must be f32 (3)"), std::string::npos)
      << error;
  EXPECT_NE(error.find("features.0.0.weight is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("features.0.0.weigth is surplus"), std::string::npos) << error;
  EXPECT_NE(error.find("comes twice"), std::string::npos) << error;
  EXPECT_TRUE(SameBits(StateDict(*model), before));  // nothing was changed
}

TEST(StateDict, LoadsWhatMatchesAndSaysWhatDoesNot) {
  const auto saved = Model(1), model = Model(2);
  std::vector<NamedTensor> state = StateDict(*saved);
  for (NamedTensor& tensor : state) {
    if (tensor.name == "classifier.1.bias") tensor.value = Zeros({4});
    if (tensor.name == "classifier.1.weight") tensor.name = "head.weight";
  }
  const std::vector<NamedTensor> before = StateDict(*model);
  const auto shapes = MobileNetV2({.num_classes = 3, .width_mult = 0.25});
  EXPECT_EQ(testing::ErrorOf([&] { LoadMatching(*shapes, state); }),
            "[state_dict] classifier.1.weight is not loaded and would have no values: call "
            "Initialize first");
  const StateNotes notes = LoadMatching(*model, state);
  EXPECT_EQ(notes.missing, std::vector<std::string>{"classifier.1.weight"});
  EXPECT_EQ(notes.surplus, std::vector<std::string>{"head.weight"});
  EXPECT_EQ(notes.unfit,
            std::vector<std::string>{"classifier.1.bias is f32 (4) and must be f32 (3)"});
  const std::vector<NamedTensor> after = StateDict(*model), all = StateDict(*saved);
  for (size_t i = 0; i < after.size(); ++i) {
    const bool kept = after[i].name.starts_with("classifier.");
    EXPECT_TRUE(SameBits({after[i]}, {kept ? before[i] : all[i]})) << after[i].name;
  }
  EXPECT_FALSE(SameBits(before, after));
}

TEST(StateDict, OfAnotherModelsFileNamesTheFirstAlone) {
  const std::string error = ErrorOf(*Model(1), {});
  const auto named = std::ranges::count(error, ';');
  EXPECT_EQ(named, 8) << error;  // between eight that are named and the number of the others
  EXPECT_NE(error.find(" more"), std::string::npos) << error;
}

// `state` with its floating tensors in that dtype.
std::vector<NamedTensor> In(DType dtype, std::vector<NamedTensor> state) {
  for (NamedTensor& tensor : state)
    if (IsFloating(tensor.value.dtype())) tensor.value = tensor.value.To(dtype);
  return state;
}

class OtherDtypes : public ::testing::TestWithParam<DType> {};

TEST_P(OtherDtypes, AreCastToTheModels) {
  const auto saved = Model(1), loaded = Model(2);
  const std::vector<NamedTensor> state = In(GetParam(), StateDict(*saved));
  EXPECT_EQ(ErrorOf(*loaded, state), "no error");
  EXPECT_TRUE(SameBits(StateDict(*loaded), In(DType::kF32, state)));
}

INSTANTIATE_TEST_SUITE_P(Floating, OtherDtypes,
                         ::testing::Values(DType::kF16, DType::kBF16, DType::kF64),
                         [](const auto& info) { return std::string(Name(info.param)); });

TEST(StateDict, F64IsRoundedToNearest) {
  const auto model = Model(1);
  std::vector<NamedTensor> state = StateDict(*model);
  for (NamedTensor& tensor : state)
    if (tensor.name == "classifier.1.bias")
      tensor.value = FromVector<double>({1.0 / 3, 1e-300, -2.5}, {3});
  EXPECT_EQ(ErrorOf(*model, state), "no error");
  const NamedVariable bias = model->Parameters().back();
  ASSERT_EQ(bias.name, "classifier.1.bias");
  EXPECT_EQ(ToVector<float>(bias.value.data()), (std::vector<float>{1.0F / 3, 0, -2.5F}));
}

// As load_state_dict does.
TEST(StateDict, IntegersAndTruthValuesBecomeWeightsAndFloatsCounters) {
  const auto model = Model(1);
  std::vector<NamedTensor> state = StateDict(*model);
  for (NamedTensor& tensor : state) {
    if (tensor.name == "classifier.1.bias") tensor.value = FromVector<uint8_t>({3, 0, 255}, {3});
    if (tensor.name == "features.0.1.weight") tensor.value = Full({8}, 1, DType::kBool);
    if (tensor.name == "features.0.1.num_batches_tracked")
      tensor.value = Full({}, 5.75, DType::kF16);
  }
  ASSERT_EQ(ErrorOf(*model, state), "no error");
  EXPECT_EQ(ToVector<float>(model->Parameters().back().value.data()),
            (std::vector<float>{3, 0, 255}));
  for (const NamedTensor& tensor : StateDict(*model)) {
    if (tensor.name == "features.0.1.weight") {
      EXPECT_EQ(ToVector<float>(tensor.value), std::vector<float>(8, 1));
    }
    if (tensor.name == "features.0.1.num_batches_tracked") {
      EXPECT_EQ(tensor.value.Item(), 5);
    }
  }
}

TEST(StateDict, FittingKeepsDtypesAndTakesTheModelsOrder) {
  const auto saved = Model(1);
  const std::vector<NamedTensor> want = In(DType::kF64, StateDict(*saved));
  const std::vector<NamedTensor> reversed(want.rbegin(), want.rend());
  const auto shapes = MobileNetV2({.num_classes = 3, .width_mult = 0.25});
  EXPECT_TRUE(SameBits(FitState(*shapes, reversed, "file"), want));
}

TEST(StateDict, AScalarMayComeAsAListOfOne) {
  const auto model = Model(1);
  std::vector<NamedTensor> state = StateDict(*model);
  for (NamedTensor& tensor : state)
    if (tensor.value.rank() == 0) tensor.value = Full({1}, 7, DType::kI64);
  EXPECT_EQ(ErrorOf(*model, state), "no error");
  EXPECT_EQ(model->Buffers()[2].value.Item(), 7);
}

TEST(StateDict, AModelOfAnotherWidthIsRefused) {
  const auto model = Model(1), wide = MobileNetV2({.num_classes = 3});
  EXPECT_THROW(LoadStateDict(*wide, StateDict(*model), "file"), BadInput);
}

}  // namespace
}  // namespace torus
