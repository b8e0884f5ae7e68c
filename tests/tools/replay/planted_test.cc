// Replay of models must find what is wrong, however little: here Torus itself writes the case, and
// then one thing of it is changed as an error in the model, its gradients or its update would.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/checkpoint/layout.h"
#include "models/checkpoint/state_dict.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "tools/replay/model_case.h"
#include "tools/replay/run_model.h"
#include "tools/replay/run_train.h"

namespace torus::replay {
namespace {

using Json = nlohmann::json;

// Three blocks with batch norm and ReLU6, one of them residual.
Json Spec(int64_t stride = 2) {
  return {{"op", "model"},
          {"model", "mobilenet_v2"},
          {"mode", "train"},
          {"config",
           {{"num_classes", 5},
            {"width_mult", 0.25},
            {"inverted_residual_setting", {{1, 16, 1, 1}, {4, 24, 2, stride}, {4, 32, 1, 1}}}}}};
}

Tensor Normal(const Shape& shape, const char* name) {
  Tensor out(shape, DType::kF32);
  FillNormal(out, 0, 1, RandomStream({.seed = 7, .layer = HashName(name)}));
  return out;
}

constexpr int64_t kBatch = 4;

// Inputs, and a state in which every parameter matters: biases are not zero.
Case Inputs(const Json& spec) {
  Case c{.path = "planted", .spec = spec};
  c.tensors["in.images"] = Normal({kBatch, 3, 16, 16}, "images");
  c.tensors["in.labels"] = FromVector<int64_t>({0, 1, 2, 4}, {kBatch});
  const auto model = BuildModel(c);
  model->Initialize(3);
  for (const NamedTensor& tensor : StateDict(*model)) {
    if (tensor.name.ends_with("num_batches_tracked")) continue;
    c.tensors["param." + tensor.name] = tensor.value;
    if (tensor.name.ends_with("bias"))
      c.tensors["param." + tensor.name] = Normal(tensor.value.shape(), tensor.name.c_str());
  }
  return c;
}

void AddOutputs(const nn::Module& model, const StepResult& step, Case& c) {
  c.tensors["out.logits"] = step.logits.data();
  c.tensors["out.loss"] = step.loss.data().View({1});
  for (const NamedTensor& tensor : StateDict(model))
    if (tensor.name.find(".running_") != std::string::npos)
      c.tensors["after." + tensor.name] = tensor.value;
}

// `source` run as `spec` says, with what came out.
Case RunAs(const Case& source, const Json& spec) {
  Case c = source;
  c.spec = spec;
  const auto model = BuildModel(c);
  LoadState(*model, c.Group("param."), c.path);
  AddOutputs(*model, RunStep(*model, c.Get("in.images"), c.Get("in.labels")), c);
  for (const NamedVariable& parameter : model->Parameters())
    c.tensors["grad_param." + parameter.name] = ToFileLayout(parameter.value.grad()).Contiguous();
  c.spec = source.spec;
  return c;
}

const Case& Right() {
  static const Case right = RunAs(Inputs(Spec()), Spec());
  return right;
}

Tensor Scaled(const Tensor& tensor, double factor) {
  Tensor out = tensor.Clone();
  ScaleInPlace(out, factor);
  return out;
}

bool Passes(const Case& c) { return RunModel(c).passed(); }

TEST(PlantedModel, TheRightCasePasses) {
  EXPECT_TRUE(Passes(Right())) << RunModel(Right()).Summary();
}

// A bias in front of a convolution and another batch norm has no gradient but rounding.
TEST(PlantedModel, AnyGradientScaledByOnePercentFails) {
  double longest = 0;
  for (const auto& [name, gradient] : Right().Group("grad_param."))
    longest = std::max(longest, Norm(gradient));
  for (const auto& [name, gradient] : Right().Group("grad_param.")) {
    if (Norm(gradient) < 1e-4 * longest) continue;
    Case c = Right();
    c.tensors["grad_param." + name] = Scaled(gradient, 1.01);
    EXPECT_FALSE(Passes(c)) << name << ": " << RunModel(c).Summary();
  }
}

TEST(PlantedModel, AMissingGradientFails) {
  Case c = Right();
  c.tensors["grad_param.classifier.1.bias"] = Zeros({5});
  EXPECT_FALSE(Passes(c));
  c.tensors.erase("grad_param.classifier.1.bias");
  EXPECT_FALSE(Passes(c));
}

// The reference had another stride: every parameter fits all the same.
TEST(PlantedModel, AnotherStrideFails) { EXPECT_FALSE(Passes(RunAs(Inputs(Spec()), Spec(1)))); }

// The reference had no bias.
TEST(PlantedModel, AMissingBiasFails) {
  for (const auto& [name, bias] : Right().Group("param.")) {
    if (!name.ends_with("bias")) continue;
    Case without = Inputs(Spec());
    without.tensors["param." + name] = Zeros(bias.shape());
    Case c = RunAs(without, Spec());
    c.tensors["param." + name] = bias;
    EXPECT_FALSE(Passes(c)) << name;
  }
}

// One batch norm of the reference had eps = 1e-3: to first order its weight is smaller by 5e-4 /
// variance.
TEST(PlantedModel, AnotherEpsilonOfOneBatchNormFails) {
  for (const auto& [name, weight] : Right().Group("param.")) {
    if (weight.rank() != 1 || !name.ends_with(".weight")) continue;
    Case other = Inputs(Spec());
    other.tensors["param." + name] = Scaled(weight, 1 - 5e-4);
    Case c = RunAs(other, Spec());
    c.tensors["param." + name] = weight;
    EXPECT_FALSE(Passes(c)) << name;
  }
}

// after = before + momentum (batch - before), with before = 0 for means and 1 for variances.
TEST(PlantedModel, AnotherMomentumFails) {
  for (const auto& [name, after] : Right().Group("after.")) {
    Case c = Right();
    std::vector<float> values = ToVector<float>(after);
    const float before = name.ends_with("var") ? 1.0f : 0.0f;
    for (float& value : values) value = before + 1.01f * (value - before);
    c.tensors["after." + name] = FromVector(values, after.shape());
    EXPECT_FALSE(Passes(c)) << name;
  }
}

// One step of SGD with momentum, by hand from the model's own gradients; `planted` scales the
// gradient, the decay and the rate that the reference had.
struct Planted {
  double gradient = 1, decay = 1, rate = 1;
};

Case Step(const Planted& planted) {
  constexpr double kRate = 0.1, kDecay = 0.01;
  Case c = Right();
  c.spec["op"] = "train";
  c.spec["steps"] = 1;
  c.spec["restart"] = true;
  c.spec["optimizer"] = {
      {"name", "sgd"}, {"lr", kRate}, {"momentum", 0.9}, {"weight_decay", kDecay}};
  for (const char* input : {"images", "labels"}) {
    const Tensor batch = c.Get(std::string("in.") + input);
    Shape shape{1};
    for (const int64_t size : batch.shape()) shape.push_back(size);
    c.tensors[std::string("in.") + input] = batch.View(shape);
  }
  c.tensors["out.losses"] = c.Get("out.loss");
  for (const auto& [name, before] : c.Group("param.")) {
    c.tensors["state.0.param." + name] = before;
    const Tensor gradient = c.Find("grad_param." + name);
    if (!gradient.defined()) {
      c.tensors["final." + name] = c.Get("after." + name);
      continue;
    }
    std::vector<float> p = ToVector<float>(before);
    const std::vector<float> g = ToVector<float>(gradient);
    for (size_t i = 0; i < p.size(); ++i)
      p[i] -= static_cast<float>(kRate * planted.rate *
                                 (planted.gradient * g[i] + kDecay * planted.decay * p[i]));
    c.tensors["final." + name] = FromVector(p, before.shape());
  }
  return c;
}

TEST(PlantedTraining, TheRightCasePasses) {
  EXPECT_TRUE(RunTrain(Step({})).passed()) << RunTrain(Step({})).Summary();
}

TEST(PlantedTraining, AWrongUpdateFails) {
  EXPECT_FALSE(RunTrain(Step({.gradient = 1.01})).passed());
  EXPECT_FALSE(RunTrain(Step({.decay = 0.9})).passed());
  EXPECT_FALSE(RunTrain(Step({.rate = 1.01})).passed());
}

}  // namespace
}  // namespace torus::replay
