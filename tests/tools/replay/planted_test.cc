// Replay of models must find what is wrong, however little: here Torus itself writes the case, and
// then one thing of it is changed as an error in the model, its gradients or its update would.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/checkpoint/state_dict.h"
#include "runtime/io/file_layout.h"
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

// Two steps of SGD with momentum, by hand from the model's own gradients; `planted` scales the
// gradient, the decay, the rate and the momentum that the reference had.
struct PlantedSgd {
  double gradient = 1, decay = 1, rate = 1, momentum = 1;
};

Tensor Stacked(const Shape& shape, const char* name) {
  return Normal(Shape{2, shape[0], shape[1], shape[2], shape[3]}, name);
}

void PutState(const nn::Module& model, const std::string& prefix, Case& c) {
  for (const NamedTensor& tensor : StateDict(model))
    if (!tensor.name.ends_with("num_batches_tracked"))
      c.tensors[prefix + tensor.name] = tensor.value.Clone();
}

Case TrainBySgd(const PlantedSgd& planted) {
  constexpr double kRate = 0.1, kDecay = 0.01, kMomentum = 0.9;
  Case c = Inputs(Spec());
  c.spec["op"] = "train";
  c.spec["steps"] = 2;
  c.spec["restart"] = true;
  c.spec["optimizer"] = {
      {"name", "sgd"}, {"lr", kRate}, {"momentum", kMomentum}, {"weight_decay", kDecay}};
  c.tensors["in.images"] = Stacked({kBatch, 3, 16, 16}, "images");
  c.tensors["in.labels"] = FromVector<int64_t>({0, 1, 2, 4, 3, 3, 1, 0}, {2, kBatch});
  const auto model = BuildModel(c);
  LoadState(*model, c.Group("param."), c.path);
  std::vector<float> losses;
  std::map<std::string, std::vector<float>> buffers;
  for (int64_t step = 0; step < 2; ++step) {
    PutState(*model, fmt::format("state.{}.param.", step), c);
    losses.push_back(static_cast<float>(RunStep(*model, BatchOf(c, step)).loss.data().Item()));
    for (NamedVariable parameter : model->Parameters()) {
      const Shape shape = parameter.value.data().shape();
      std::vector<float> p = ToVector<float>(parameter.value.data());
      const std::vector<float> g = ToVector<float>(parameter.value.grad());
      std::vector<float>& buffer = buffers[parameter.name];
      const double carried = step == 0 ? 0 : kMomentum * planted.momentum;
      buffer.resize(p.size());
      if (step > 0)
        c.tensors[fmt::format("state.{}.momentum.{}", step, parameter.name)] =
            ToFileLayout(FromVector(buffer, shape)).Contiguous();
      for (size_t i = 0; i < p.size(); ++i) {
        buffer[i] = static_cast<float>(carried * buffer[i] + planted.gradient * g[i] +
                                       kDecay * planted.decay * p[i]);
        p[i] -= static_cast<float>(kRate * planted.rate) * buffer[i];
      }
      parameter.value.SetData(FromVector(p, shape));
    }
  }
  PutState(*model, "final.", c);
  c.tensors["out.losses"] = FromVector(losses, {2});
  return c;
}

TEST(PlantedTraining, TheRightCasePasses) {
  EXPECT_TRUE(RunTrain(TrainBySgd({})).passed()) << RunTrain(TrainBySgd({})).Summary();
}

TEST(PlantedTraining, AWrongUpdateFails) {
  EXPECT_FALSE(RunTrain(TrainBySgd({.gradient = 1.01})).passed());
  EXPECT_FALSE(RunTrain(TrainBySgd({.decay = 0.9})).passed());
  EXPECT_FALSE(RunTrain(TrainBySgd({.rate = 1.01})).passed());
  EXPECT_FALSE(RunTrain(TrainBySgd({.momentum = 0.99})).passed());
}

// Three steps of AdamW with clipping, by hand, without a state to start from at each; `planted`
// scales what the reference had.
struct PlantedAdam {
  double rate = 1, beta1 = 1, beta2 = 1, decay = 1, clip = 1;
  bool corrected = true;  // for the moments' start at zero
};

Case AdamInputs() {
  Case c{.path = "planted",
         .spec = {{"op", "train"},
                  {"model", "gpt2"},
                  {"config",
                   {{"vocab_size", 40},
                    {"n_embd", 16},
                    {"n_layer", 2},
                    {"n_head", 2},
                    {"n_positions", 8},
                    {"resid_pdrop", 0.0},
                    {"embd_pdrop", 0.0},
                    {"attn_pdrop", 0.0}}},
                  {"mode", "train"},
                  {"steps", 3},
                  {"restart", false},
                  {"optimizer",
                   {{"name", "adamw"},
                    {"lr", 0.001},
                    {"betas", {0.9, 0.99}},
                    {"eps", 1e-8},
                    {"weight_decay", 0.1},
                    {"clip_grad_norm", 0.5}}}}};
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 3 * 4 * 8; ++i) ids.push_back((7 * i * i + 3 * i) % 40);
  c.tensors["in.input_ids"] = c.tensors["in.labels"] = FromVector(ids, {3, 4, 8});
  const auto model = BuildModel(c);
  model->Initialize(3);
  PutState(*model, "param.", c);
  return c;
}

double NormOfGradients(const nn::Module& model) {
  double squares = 0;
  for (const NamedVariable& parameter : model.Parameters())
    squares += Dot(parameter.value.grad(), parameter.value.grad());
  return std::sqrt(squares);
}

Case TrainByAdamW(const PlantedAdam& planted) {
  Case c = AdamInputs();
  const auto model = BuildModel(c);
  LoadState(*model, c.Group("param."), c.path);
  const double beta1 = 0.9 * planted.beta1, beta2 = 0.99 * planted.beta2;
  std::vector<float> losses;
  std::map<std::string, std::vector<double>> first, second;
  for (int64_t step = 0; step < 3; ++step) {
    losses.push_back(static_cast<float>(RunStep(*model, BatchOf(c, step)).loss.data().Item()));
    const double scale = std::min(1.0, 0.5 * planted.clip / (NormOfGradients(*model) + 1e-6));
    const double t = planted.corrected ? static_cast<double>(step + 1) : 1e9;
    for (NamedVariable parameter : model->Parameters()) {
      std::vector<float> p = ToVector<float>(parameter.value.data());
      const std::vector<float> g = ToVector<float>(parameter.value.grad());
      std::vector<double>&m = first[parameter.name], &v = second[parameter.name];
      m.resize(p.size()), v.resize(p.size());
      for (size_t i = 0; i < p.size(); ++i) {
        m[i] = beta1 * m[i] + (1 - beta1) * scale * g[i];
        v[i] = beta2 * v[i] + (1 - beta2) * scale * g[i] * scale * g[i];
        const double root = std::sqrt(v[i] / (1 - std::pow(beta2, t))) + 1e-8;
        const double step_of = m[i] / (1 - std::pow(beta1, t)) / root;
        p[i] = static_cast<float>(p[i] -
                                  0.001 * planted.rate * (0.1 * planted.decay * p[i] + step_of));
      }
      parameter.value.SetData(FromVector(p, parameter.value.data().shape()));
    }
  }
  PutState(*model, "final.", c);
  c.tensors["out.losses"] = FromVector(losses, {3});
  return c;
}

TEST(PlantedFreeTraining, TheRightCasePasses) {
  EXPECT_TRUE(RunTrain(TrainByAdamW({})).passed()) << RunTrain(TrainByAdamW({})).Summary();
}

// Adam's update does not depend on the gradients' scale but by eps: clipping shows where the norm
// changes from step to step.
TEST(PlantedFreeTraining, AWrongUpdateFails) {
  EXPECT_FALSE(RunTrain(TrainByAdamW({.rate = 1.01})).passed());
  EXPECT_FALSE(RunTrain(TrainByAdamW({.beta1 = 0.99})).passed());
  EXPECT_FALSE(RunTrain(TrainByAdamW({.beta2 = 0.999})).passed());
  EXPECT_FALSE(RunTrain(TrainByAdamW({.decay = 0.9})).passed());
  EXPECT_FALSE(RunTrain(TrainByAdamW({.corrected = false})).passed());
}

TEST(PlantedFreeTraining, AMissingClipFails) {
  EXPECT_FALSE(RunTrain(TrainByAdamW({.clip = 1e9})).passed());
}

TEST(PlantedFreeTraining, AWrongLossFails) {
  Case c = TrainByAdamW({});
  c.tensors["out.losses"] = Scaled(c.Get("out.losses"), 1.001);
  EXPECT_FALSE(RunTrain(c).passed());
}

}  // namespace
}  // namespace torus::replay
