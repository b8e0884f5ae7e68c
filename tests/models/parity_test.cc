// Whole models against their references (tests/golden/make_models.py): logits, loss and every
// gradient. The reference ran in f64, so only our rounding lies between.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "autograd/backward.h"
#include "models/amoebanet/amoebanet.h"
#include "models/gpt2/gpt2.h"
#include "models/gpt3/gpt3.h"
#include "models/llama/llama.h"
#include "models/resnet/resnet.h"
#include "models/roberta/roberta.h"
#include "models/vgg/vgg.h"
#include "models/vit/vit.h"
#include "ops/loss/cross_entropy.h"
#include "ops/view/view.h"
#include "runtime/io/file_layout.h"
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

// What goes into a model, and the targets of cross entropy over its logits' last dimension.
struct Batch {
  std::vector<Variable> inputs;
  Tensor targets;  // i64, flat
};

struct Case {
  std::string key;
  std::function<std::shared_ptr<nn::Sequential>()> make;
  std::function<Batch()> batch;
};

class Parity : public ::testing::TestWithParam<Case> {};

Batch Images(const std::string& key, int64_t size, int64_t batch) {
  const Tensor images =
      testing::HashedTensor(key, {batch, 3, size, size}, std::sqrt(12.0), 0, DType::kF32);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < batch; ++i) labels.push_back(i % 10);
  return {{Variable(FromFileLayout(images).Contiguous())}, FromVector(labels, {batch})};
}

constexpr int64_t kTexts = 3, kTokens = 16;

// Three texts, row r ending in r * padding tokens of padding.
Batch Texts(const std::string& key, int64_t padding) {
  std::vector<int64_t> ids, mask;
  for (const double v : testing::HashedValues(key, kTexts * kTokens)) {
    const auto place = static_cast<int64_t>(ids.size());
    const bool real = place % kTokens < kTokens - padding * (place / kTokens);
    ids.push_back(real ? static_cast<int64_t>(v * 50 + 30) : 1);
    mask.push_back(real);
  }
  const Shape shape{kTexts, kTokens};
  Batch batch{{Variable(FromVector(ids, shape))}, {}};
  if (padding > 0) batch.inputs.push_back(Variable(FromVector(mask, shape)));
  return batch;
}

Batch Classified(const std::string& key) {
  Batch batch = Texts(key, 4);
  batch.targets = Arange(kTexts);
  return batch;
}

Batch NextToken(const std::string& key, int64_t padding) {
  Batch batch = Texts(key, padding);
  batch.targets = NextTokens(batch.inputs[0].data()).View({kTexts * kTokens});
  return batch;
}

Batch EveryThirdId(const std::string& key) {
  Batch batch = Texts(key, 4);
  std::vector<int64_t> targets;
  for (const int64_t id : ToVector<int64_t>(batch.inputs[0].data()))
    targets.push_back(id % 3 == 0 ? id : -100);
  batch.targets = FromVector(targets, {kTexts * kTokens});
  return batch;
}

int64_t Terms(const nn::Module& model) {
  int64_t terms = 0;
  for (const NamedVariable& p : model.Parameters())
    if (p.value.rank() >= 2) terms += p.value.numel() / p.value.dim(0);
  return terms;
}

struct Step {
  Variable logits, loss;
};

Step ForwardBackward(nn::Sequential& model, const Batch& batch) {
  StepContext ctx;
  for (int64_t i = 0; i < batch.inputs[0].dim(0); ++i) ctx.samples.push_back(i);
  Step step;
  step.logits = model.ForwardAll(batch.inputs, ctx)[0];
  const Variable rows = ops::Reshape(step.logits, {-1, step.logits.dim(-1)});
  step.loss = ops::CrossEntropy(rows, Variable(batch.targets));
  Backward({step.loss});
  return step;
}

double Norm(const std::vector<float>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

// The reference's logits and loss, within the rounding of a chain of `terms` terms.
void CheckForward(const std::string& key, const Step& step, int64_t terms) {
  const std::vector<double> want = ToVector<double>(Golden().at(key + "/logits"));
  const std::vector<float> got = ToVector<float>(step.logits.data());
  ASSERT_EQ(got.size(), want.size());
  double scale = 0;
  for (const double w : want) scale = std::max(scale, std::abs(w));
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], replay::Tolerance(DType::kF32, want[i], {terms, scale})) << i;
  EXPECT_NEAR(step.loss.data().Item(), Golden().at(key + "/loss").Item(),
              replay::Tolerance(DType::kF32, scale, {terms, scale}));
}

double LargestGradient(const nn::Module& model) {
  double largest = 0;
  for (const NamedVariable& p : model.Parameters())
    for (const float v : ToVector<float>(p.value.grad()))
      largest = std::max<double>(largest, std::abs(v));
  return largest;
}

// Its norm and one projection.
void CheckGradient(const std::string& key, const NamedVariable& p, double allowed) {
  const auto want = ToVector<double>(Golden().at(key + "/grad/" + p.name));
  const std::vector<float> got = ToVector<float>(ToFileLayout(p.value.grad()).Contiguous());
  EXPECT_NEAR(Norm(got), want[0], allowed) << p.name;
  const std::vector<double> r = testing::HashedValues("project " + p.name, p.value.numel());
  double projection = 0;
  for (size_t i = 0; i < got.size(); ++i) projection += got[i] * r[i];
  // Four deviations of a product with numbers of variance 1 / 12.
  EXPECT_NEAR(projection, want[1], 4 * std::sqrt(1.0 / 12) * allowed) << p.name;
}

TEST_P(Parity, LogitsLossAndEveryGradientAreTheReferences) {
  const Case& c = GetParam();
  const auto model = c.make();
  testing::FillHashed(*model);
  const Batch batch = c.batch();
  const replay::RoundingNoise noise(*model, [&] { ForwardBackward(*model, batch); });
  const Step step = ForwardBackward(*model, batch);
  const int64_t terms = Terms(*model);
  CheckForward(c.key, step, terms);
  const double floor = replay::GradientFloor(DType::kF32, LargestGradient(*model));
  for (const NamedVariable& p : model->Parameters()) {
    ASSERT_TRUE(p.value.grad().defined()) << p.name;
    const double norm = Norm(ToVector<float>(p.value.grad()));
    // As tools/replay/model_tolerance.h.
    CheckGradient(c.key, p,
                  replay::Tolerance(DType::kF32, norm, {2 * terms, norm}) +
                      2 * noise.Distance(p.name, p.value.grad()) +
                      std::sqrt(static_cast<double>(p.value.numel())) * floor);
  }
}

RobertaOptions SmallRoberta(RobertaHead head) {
  return {.vocab_size = 60,
          .hidden_size = 24,
          .num_hidden_layers = 2,
          .num_attention_heads = 3,
          .intermediate_size = 40,
          .hidden_dropout_prob = 0,
          .attention_probs_dropout_prob = 0,
          .max_position_embeddings = 20,
          .num_labels = 3,
          .head = head};
}

Gpt2Options SmallGpt2() {
  return {.vocab_size = 60,
          .n_positions = 20,
          .n_embd = 24,
          .n_layer = 2,
          .n_head = 3,
          .resid_pdrop = 0,
          .embd_pdrop = 0,
          .attn_pdrop = 0};
}

Gpt2Options OtherGpt2() {
  Gpt2Options o = SmallGpt2();
  o.n_inner = 30;
  o.activation_function = "relu";
  o.tie_word_embeddings = false;
  o.scale_attn_by_inverse_layer_idx = true;
  return o;
}

Gpt3Options SmallGpt3(Gpt3Head head) {
  return {.vocab_size = 60,
          .positions = 20,
          .width = 24,
          .layers = 2,
          .heads = 3,
          .num_classes = 3,
          .head = head};
}

LlamaOptions SmallLlama() {
  return {.vocab_size = 60,
          .hidden_size = 24,
          .intermediate_size = 40,
          .num_hidden_layers = 2,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .max_position_embeddings = 20};
}

LlamaOptions OtherLlama() {
  LlamaOptions o = SmallLlama();
  o.num_key_value_heads = 1;
  o.head_dim = 8;
  o.hidden_act = "gelu";
  o.rms_norm_eps = 1e-3;
  o.pad_token_id = 1;
  o.tie_word_embeddings = true;
  o.rope = {.theta = 500, .factor = 8, .original_positions = 12};
  o.attention_bias = o.mlp_bias = true;
  return o;
}

VitOptions SmallVit() {
  return {.image_size = 32,
          .patch_size = 8,
          .num_layers = 2,
          .num_heads = 3,
          .hidden_dim = 24,
          .mlp_dim = 40,
          .num_classes = 10};
}

INSTANTIATE_TEST_SUITE_P(
    Models, Parity,
    ::testing::Values(
        Case{"resnet18", [] { return ResNet({.depth = 18, .num_classes = 10}); },
             [] { return Images("resnet18", 64, 4); }},
        Case{"resnet50", [] { return ResNet({.depth = 50, .num_classes = 10}); },
             [] { return Images("resnet50", 64, 4); }},
        Case{"vgg11",
             [] { return Vgg({.depth = 11, .num_classes = 10, .hidden = 16, .dropout = 0}); },
             [] { return Images("vgg11", 32, 2); }},
        Case{
            "vgg11_bn",
            [] {
              return Vgg(
                  {.depth = 11, .batch_norm = true, .num_classes = 10, .hidden = 16, .dropout = 0});
            },
            [] { return Images("vgg11_bn", 32, 2); }},
        Case{"roberta", [] { return Roberta(SmallRoberta(RobertaHead::kClassification)); },
             [] { return Classified("roberta"); }},
        Case{"roberta_mlm", [] { return Roberta(SmallRoberta(RobertaHead::kMaskedLm)); },
             [] { return EveryThirdId("roberta_mlm"); }},
        Case{"gpt2", [] { return Gpt2(SmallGpt2()); }, [] { return NextToken("gpt2", 0); }},
        Case{"gpt2_other", [] { return Gpt2(OtherGpt2()); },
             [] { return NextToken("gpt2_other", 4); }},
        Case{"gpt3", [] { return Gpt3(SmallGpt3(Gpt3Head::kClassification)); },
             [] {
               Batch batch = Texts("gpt3", 0);
               batch.targets = Arange(kTexts);
               return batch;
             }},
        Case{"llama", [] { return Llama(SmallLlama()); }, [] { return NextToken("llama", 0); }},
        Case{"llama_other", [] { return Llama(OtherLlama()); },
             [] { return NextToken("llama_other", 4); }},
        Case{"vit", [] { return Vit(SmallVit()); }, [] { return Images("vit", 32, 4); }},
        Case{"vit_other",
             [] {
               VitOptions o = SmallVit();
               o.representation_size = 20;
               return Vit(o);
             },
             [] { return Images("vit_other", 32, 4); }},
        Case{"gpt3_lm", [] { return Gpt3(SmallGpt3(Gpt3Head::kLm)); },
             [] { return NextToken("gpt3_lm", 0); }},
        Case{"amoebanetd",
             [] { return AmoebaNetD({.layers = 3, .filters = 32, .num_classes = 10}); },
             [] { return Images("amoebanetd", 64, 2); }}),
    [](const auto& info) { return info.param.key; });

}  // namespace
}  // namespace torus
