// Whole models against their references (tests/golden/make_models.py): logits, loss and every
// gradient. The reference ran in f64, so only our rounding lies between.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "autograd/backward.h"
#include "models/checkpoint/layout.h"
#include "models/resnet/resnet.h"
#include "models/vgg/vgg.h"
#include "ops/loss/cross_entropy.h"
#include "runtime/io/safetensors.h"
#include "tests/models/hashed_values.h"
#include "tools/replay/rounding_noise.h"
#include "tools/replay/tolerance.h"

namespace torus {
namespace {

const std::map<std::string, Tensor>& Golden() {
  static const auto golden = [] {
    std::map<std::string, Tensor> tensors;
    for (const NamedTensor& t : ReadSafetensors("tests/golden/models.safetensors").tensors)
      tensors[t.name] = t.value;
    return tensors;
  }();
  return golden;
}

struct Case {
  std::string key;
  std::function<std::shared_ptr<nn::Sequential>()> make;
  int64_t size, batch;
};

class Parity : public ::testing::TestWithParam<Case> {};

int64_t Terms(const nn::Module& model) {
  int64_t terms = 0;
  for (const NamedVariable& p : model.Parameters())
    if (p.value.rank() >= 2) terms += p.value.numel() / p.value.dim(0);
  return terms;
}

struct Step {
  Variable logits, loss;
};

Step Run(nn::Sequential& model, const Case& c) {
  StepContext ctx;
  for (int64_t i = 0; i < c.batch; ++i) ctx.samples.push_back(i);
  const Tensor images =
      testing::HashedTensor(c.key, {c.batch, 3, c.size, c.size}, std::sqrt(12.0), 0, DType::kF32);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < c.batch; ++i) labels.push_back(i % 10);
  Step step;
  step.logits = model.Forward(Variable(FromFileLayout(images).Contiguous()), ctx);
  step.loss = ops::CrossEntropy(step.logits, Variable(FromVector(labels, {c.batch})));
  Backward({step.loss});
  return step;
}

double Norm(const std::vector<float>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

TEST_P(Parity, LogitsLossAndEveryGradientAreTheReferences) {
  const Case& c = GetParam();
  const auto model = c.make();
  testing::FillHashed(*model);
  const replay::RoundingNoise noise(model->Parameters(), [&] { Run(*model, c); });
  const Step step = Run(*model, c);
  const int64_t terms = Terms(*model);
  const std::vector<double> want = ToVector<double>(Golden().at(c.key + "/logits"));
  const std::vector<float> got = ToVector<float>(step.logits.data());
  ASSERT_EQ(got.size(), want.size());
  double scale = 0;
  for (const double w : want) scale = std::max(scale, std::abs(w));
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], replay::Tolerance(DType::kF32, want[i], {terms, scale})) << i;
  EXPECT_NEAR(step.loss.data().Item(), Golden().at(c.key + "/loss").Item(),
              replay::Tolerance(DType::kF32, scale, {terms, scale}));
  double largest = 0;
  for (const NamedVariable& p : model->Parameters())
    for (const float v : ToVector<float>(p.value.grad()))
      largest = std::max<double>(largest, std::abs(v));
  for (const NamedVariable& p : model->Parameters()) {
    const auto wanted = ToVector<double>(Golden().at(c.key + "/grad/" + p.name));
    const std::vector<float> grad = ToVector<float>(ToFileLayout(p.value.grad()).Contiguous());
    const double norm = Norm(grad), root = std::sqrt(static_cast<double>(grad.size()));
    // As tools/replay/model_tolerance.h.
    const double allowed = replay::Tolerance(DType::kF32, norm, {2 * terms, norm}) +
                           2 * noise.Distance(p.name, p.value.grad()) +
                           root * replay::GradientFloor(DType::kF32, largest);
    EXPECT_NEAR(norm, wanted[0], allowed) << p.name;
    const std::vector<double> r = testing::HashedValues("project " + p.name, p.value.numel());
    double projection = 0;
    for (size_t i = 0; i < grad.size(); ++i) projection += grad[i] * r[i];
    // Four deviations of a product with numbers of variance 1 / 12.
    EXPECT_NEAR(projection, wanted[1], 4 * std::sqrt(1.0 / 12) * allowed) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Parity,
    ::testing::Values(
        Case{"resnet18", [] { return ResNet({.depth = 18, .num_classes = 10}); }, 64, 4},
        Case{"resnet50", [] { return ResNet({.depth = 50, .num_classes = 10}); }, 64, 4},
        Case{"vgg11", [] { return Vgg({.depth = 11, .num_classes = 10, .dropout = 0}); }, 32, 2},
        Case{"vgg11_bn",
             [] { return Vgg({.depth = 11, .batch_norm = true, .num_classes = 10, .dropout = 0}); },
             32, 2}),
    [](const auto& info) { return info.param.key; });

}  // namespace
}  // namespace torus
