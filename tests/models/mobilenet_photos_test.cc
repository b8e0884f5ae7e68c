// MobileNetV2 with published weights on ten photographs, against torchvision's logits
// (tests/golden/make_mobilenet_photos.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "autograd/node.h"
#include "data/images/decode.h"
#include "data/images/normalization.h"
#include "data/images/resize.h"
#include "models/checkpoint/state_dict.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

namespace fs = std::filesystem;

// 224 x 224 whatever its shape was, and x / 127.5 - 1.
Tensor Preprocess(const std::string& path) {
  const Tensor image = data::Resize(data::ReadImage(path), 224, 224);
  const data::Normalizer normalizer({.mean = {0.5, 0.5, 0.5}, .std = {0.5, 0.5, 0.5}});
  return normalizer.Apply(image).View({1, 224, 224, 3});
}

// Terms of all sums on a value's way through the network.
int64_t Terms(const nn::Module& model) {
  int64_t terms = 0;
  for (const NamedVariable& p : model.Parameters())
    if (p.value.rank() >= 2) terms += p.value.numel() / p.value.dim(0);
  return terms;
}

class Photos : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("TORUS_DATA");
    folder_ = fs::path(data == nullptr ? "" : data) / "weights/mobilenet_v2";
    if (!fs::exists(folder_)) GTEST_SKIP() << "TORUS_DATA has no weights/mobilenet_v2";
    model_ = MobileNetV2();
    LoadModel(*model_, (folder_ / "mobilenet_v2_imagenet_dequant_qat.safetensors").string());
  }
  std::vector<float> Logits(const Tensor& image) {
    const NoGrad no_grad;
    return ToVector<float>(
        model_->Forward(Variable(image), {.training = false, .samples = {0}}).data());
  }
  fs::path folder_;
  std::shared_ptr<nn::Sequential> model_;
};

TEST_F(Photos, LogitsAreTorchvisions) {
  std::map<std::string, Tensor> golden;
  for (const NamedTensor& tensor :
       ReadSafetensors("tests/golden/mobilenet_photos.safetensors").tensors)
    golden[tensor.name] = tensor.value;
  int photos = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "test_images")) {
    const std::string stem = entry.path().stem().string();
    const std::vector<float> want = ToVector<float>(golden.at(stem)),
                             got = Logits(Preprocess(entry.path().string()));
    ASSERT_EQ(got.size(), want.size());
    const auto largest = std::max_element(want.begin(), want.end());
    EXPECT_EQ(std::max_element(got.begin(), got.end()) - got.begin(), largest - want.begin())
        << stem;
    // The reference ran in f64 from the same bytes, so only our rounding is between them.
    const double tolerance = testing::Tolerance(DType::kF32, Terms(*model_), *largest);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], tolerance) << stem << " class " << i;
    ++photos;
  }
  EXPECT_EQ(photos, 10);
}

}  // namespace
}  // namespace torus
