#include "recipes/run/lora.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "parallel/optim/adam.h"
#include "parallel/optim/sgd.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/data/task_data.h"
#include "recipes/run/make_optimizer.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "runtime/error.h"
#include "tests/recipes/run/resumed.h"
#include "tests/recipes/small_text.h"
#include "tests/testing/checkpoint_bytes.h"
#include "tests/testing/error_of.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes {
namespace {

constexpr double kRate = 0.25;

Tensor Numbers(const Shape& shape, double phase) {
  std::vector<double> values(static_cast<size_t>(Numel(shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(phase + 0.9 * static_cast<double>(i));
  return FromVector<double>(values, shape);
}

// A matrix that is adapted, one that keeps its values, and a vector that is trained whole.
struct Model {
  NamedVariable adapted{"h.weight", Variable(Numbers({3, 4}, 0), true)};
  NamedVariable frozen{"e.weight", Variable(Numbers({2, 2}, 1), true)};
  NamedVariable whole{"head.bias", Variable(Numbers({3}, 2), true)};
  LoraParameters trained{{"h.weight"}, {"head.bias"}};

  std::vector<NamedVariable> parameters() const { return {adapted, frozen, whole}; }
  void SetGradients(double phase) {
    for (NamedVariable p : parameters()) p.value.SetGrad(Numbers(p.value.shape(), phase += 1));
  }
};

std::unique_ptr<parallel::Optimizer> Sgd(std::vector<NamedVariable> parameters) {
  return std::make_unique<parallel::Sgd>(std::move(parameters), parallel::SgdOptions{});
}
std::unique_ptr<parallel::Optimizer> Adam(std::vector<NamedVariable> parameters) {
  return std::make_unique<parallel::Adam>(std::move(parameters), parallel::AdamOptions{});
}

Tensor Find(const std::vector<NamedTensor>& state, const std::string& name) {
  for (const NamedTensor& tensor : state)
    if (tensor.name == name) return tensor.value.Clone();
  return {};
}

// (m, k) x (k, n)
std::vector<double> Product(const Tensor& a, const Tensor& b) {
  std::vector<double> out(static_cast<size_t>(a.dim(0) * b.dim(1)));
  const std::vector<double> x = ToVector<double>(a), y = ToVector<double>(b);
  for (int64_t i = 0; i < a.dim(0); ++i)
    for (int64_t j = 0; j < b.dim(1); ++j)
      for (int64_t k = 0; k < a.dim(1); ++k)
        out[i * b.dim(1) + j] += x[i * a.dim(1) + k] * y[k * b.dim(1) + j];
  return out;
}

// As near as sums of so many terms are to others of them, in f64; no partial sum is beyond `most`.
void ExpectNear(const std::vector<double>& got, const std::vector<double>& wanted, int64_t terms,
                double most) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], torus::testing::Tolerance(DType::kF64, terms, most)) << i;
}

// x + factor * y
std::vector<double> Moved(std::vector<double> x, double factor, const std::vector<double>& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += factor * y[i];
  return x;
}

// Two steps of SGD: B = -rate G A^T after the first, since B was 0, and A has a gradient only in
// the second: A' = A - rate B^T G'.
TEST(LoraOptimizer, TrainsTwoNarrowMatricesByTheChainRule) {
  Model model;
  const Tensor before = model.adapted.value.data().Clone(),
               frozen = model.frozen.value.data().Clone(), whole = model.whole.value.data().Clone();
  LoraOptimizer optimizer(model.parameters(), model.trained, 2, 7, Sgd);
  model.SetGradients(10);
  const Tensor first = model.adapted.value.grad().Clone();
  const std::vector<double> bias_gradient = ToVector<double>(model.whole.value.grad());
  optimizer.Step(kRate);
  const Tensor a = Find(optimizer.State(), "h.weight.lora_A"),
               b = Find(optimizer.State(), "h.weight.lora_B");
  ASSERT_EQ(a.shape(), (Shape{2, 4}));
  for (const double value : ToVector<double>(a)) EXPECT_LE(std::abs(value), 0.5);
  // Gradients and weights are sines, the elements of A at most 0.5: those of B, sums of 4 products,
  // are at most 0.25 * 4 * 0.5.
  const std::vector<double> step = Product(first, a.Permute({1, 0}).Contiguous());
  ExpectNear(ToVector<double>(b), Moved(std::vector<double>(step.size()), -kRate, step), 4, 0.5);
  const auto expect_sum = [&](const Tensor& a, const Tensor& b, double most) {
    ExpectNear(ToVector<double>(model.adapted.value.data()),
               Moved(ToVector<double>(before), 1, Product(b, a)), 3, most);
  };
  expect_sum(a, b, 1 + 2 * 0.5 * 0.5);
  ExpectNear(ToVector<double>(model.whole.value.data()),
             Moved(ToVector<double>(whole), -kRate, bias_gradient), 2, 1 + kRate);
  model.SetGradients(20);
  const std::vector<double> of_a =
      Product(b.Permute({1, 0}).Contiguous(), model.adapted.value.grad());
  optimizer.Step(kRate);
  const Tensor next = Find(optimizer.State(), "h.weight.lora_A");
  // The second step adds to A 0.25 of 3 products, of at most 0.5, and to B 0.25 of 4, likewise.
  ExpectNear(ToVector<double>(next), Moved(ToVector<double>(a), -kRate, of_a), 4,
             0.5 + 0.25 * 3 * 0.5);
  expect_sum(next, Find(optimizer.State(), "h.weight.lora_B"),
             1 + 2 * (0.5 + 0.25 * 3 * 0.5) * (0.5 + 0.25 * 4 * 0.5));
  EXPECT_EQ(ToVector<double>(model.frozen.value.data()), ToVector<double>(frozen));
}

TEST(LoraOptimizer, GoesOnFromItsState) {
  Model one, two;
  LoraOptimizer first(one.parameters(), one.trained, 2, 7, Adam),
      second(two.parameters(), two.trained, 2, 8, Adam);
  EXPECT_TRUE(first.State().empty());
  one.SetGradients(10);
  first.Step(kRate);
  std::vector<NamedTensor> state = first.State();
  for (NamedTensor& tensor : state) {
    EXPECT_TRUE(tensor.name.starts_with("h.weight.lora_") || tensor.name.starts_with("head.bias."))
        << tensor.name;
    EXPECT_EQ(std::ranges::count(tensor.name, '.'), 2) << "parameter.kind: " << tensor.name;
    tensor.value = tensor.value.Clone();
  }
  second.LoadState(state);
  for (const auto& [from, to] : {std::pair(one.adapted, two.adapted), {one.whole, two.whole}}) {
    Variable copy = to.value;
    copy.SetData(from.value.data().Clone());
  }
  one.SetGradients(20), two.SetGradients(20);
  first.Step(kRate), second.Step(kRate);
  EXPECT_EQ(ToVector<double>(one.adapted.value.data()), ToVector<double>(two.adapted.value.data()));
  EXPECT_EQ(ToVector<double>(one.whole.value.data()), ToVector<double>(two.whole.value.data()));
  uint64_t bytes = 0;
  for (const NamedTensor& tensor : state) bytes += tensor.value.bytes();
  EXPECT_EQ(first.StateBytes(), bytes);
  std::vector<NamedTensor> twice = state;
  twice.push_back({"h.weight.lora_A", Zeros({2, 4}, DType::kF64)});
  EXPECT_EQ(torus::testing::ErrorOf([&] { second.LoadState(twice); }),
            "[lora] state h.weight.lora_A comes twice");
  state.erase(state.begin());  // lora_base
  EXPECT_THROW(second.LoadState(state), BadInput);
}

Settings Small(const std::string& model) {
  Settings s;
  s.model = model;
  return s;
}

// Nothing but the counters of steps is left out.
TEST(BytesOfOptimizerState, AreThoseOfEachOptimizer) {
  Settings s = Small("gpt-char:1");
  const DataForm form = TextForm("text", 29, 8);
  std::vector<std::pair<std::string, std::string>> all{{"adamw", "bf16"}, {"adamw", "8bit"}};
  for (const std::string& name : OptimizerNames()) all.emplace_back(name, "f32");
  for (const auto& [optimizer, state] : all)
    for (s.lora = 0; s.lora <= 2; s.lora += 2) {
      s.optimizer = optimizer, s.optimizer_state = state;
      double counted = 0;
      const auto of_each = BytesOfOptimizerState(s, form);
      std::vector<NamedVariable> parameters;
      std::set<std::string> seen;  // the embeddings are tied
      for (const parallel::Block& block : BuildBlocks(s, form, ""))
        for (const NamedVariable& parameter : block.parameters)
          if (seen.insert(parameter.name).second) parameters.push_back(parameter);
      for (NamedVariable& parameter : parameters) {
        counted += of_each(parameter);
        parameter.value.SetGrad(Zeros(parameter.value.shape()));
      }
      const auto made = OptimizerOf(s, form)(parameters);
      made->Step(0);
      auto kept = static_cast<double>(made->StateBytes());
      for (const NamedTensor& tensor : made->State())
        if (tensor.value.rank() == 0) kept -= static_cast<double>(tensor.value.bytes());
      EXPECT_EQ(counted, kept) << optimizer << " in " << state << ", lora " << s.lora;
    }
}

TEST(LoraParametersOf, AreTheMatricesButEmbeddingsAndHead) {
  const LoraParameters gpt = LoraParametersOf(Small("gpt2:2"), TextForm("text", 50257, 8));
  EXPECT_EQ(gpt.adapted.size(), 8u) << "four of each layer";
  EXPECT_TRUE(gpt.whole.empty());
  for (const std::string& name : gpt.adapted) EXPECT_EQ(name.find("wte"), name.npos) << name;
  const LoraParameters roberta = LoraParametersOf(Small("roberta:1"), SentenceForm("s", 2, 8));
  EXPECT_EQ(roberta.adapted.size(), 6u);
  EXPECT_EQ(roberta.whole.size(), 4u) << "two linear layers with biases";
  EXPECT_THROW(LoraParametersOf(Small("resnet18"), TextForm("images", 10, 8)), BadInput);
}

// As a user does: trains, then adapts what came of it, stops in between, and reads the result.
TEST(Lora, ARunChangesNothingElseAndIsResumedInTheSameBits) {
  const std::string folder = ::testing::TempDir() + "/lora", path = folder + "/text.txt";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  testing::WriteLetters(path, 400);
  RunOptions options{.settings = Small("gpt-char:1"), .out = folder + "/base", .max_steps = 1};
  Settings& s = options.settings;
  s.data = "text";
  s.data_dir = path;
  s.tokenizer = "bytes";
  s.length = 8;
  s.epoch_size = 8;
  s.batch_size = 2;
  s.micro_batches = s.threads = 1;
  s.optimizer = "adamw";
  s.lr = 0.01;
  recipes::Run(options);
  s.init = folder + "/base/checkpoint";
  s.lora = 2;
  options.out = folder + "/whole";
  options.max_steps = 4;
  recipes::Run(options);
  options.out = folder + "/part";
  options.max_steps = 2;
  recipes::Run(options);
  RunOptions rest = testing::Resumed(options);
  rest.max_steps = 4;
  recipes::Run(rest);
  const auto bytes = [&](const char* run) {
    return torus::testing::CheckpointBytes(folder + "/" + run + "/checkpoint");
  };
  EXPECT_TRUE(bytes("whole") == bytes("part"));
  const auto weights = [&](const char* run) {
    std::map<std::string, std::vector<float>> all;
    const ResumedRun opened = LoadRun(folder + "/" + run);
    for (const NamedTensor& weight : opened.checkpoint->ReadAll(io::kWeights))
      all[weight.name] = ToVector<float>(weight.value);
    return all;
  };
  const auto before = weights("base"), after = weights("whole");
  const LoraParameters trained = LoraParametersOf(s, TextForm("text", 256, 8));
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, values] : before)
    EXPECT_EQ(values != after.at(name), trained.adapted.contains(name)) << name;
}

}  // namespace
}  // namespace torus::recipes
