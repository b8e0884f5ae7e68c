// Attention, transformers and recurrent layers against torch.nn in f64, forward and gradients
// (tests/golden/make_layers.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "autograd/backward.h"
#include "models/checkpoint/state_dict.h"
#include "models/nn/recurrent.h"
#include "models/nn/sequential.h"
#include "models/nn/transformer.h"
#include "runtime/io/safetensors.h"
#include "runtime/rng.h"
#include "tests/testing/error_of.h"
#include "tests/testing/tolerance.h"

namespace torus::nn {
namespace {

// The tensors of one case by what follows its name: "in/query".
class GoldenCase {
 public:
  explicit GoldenCase(const std::string& name) {
    static const SafetensorsFile file = ReadSafetensors("tests/golden/layers.safetensors");
    for (const NamedTensor& tensor : file.tensors)
      if (tensor.name.starts_with(name + "/"))
        tensors_[tensor.name.substr(name.size() + 1)] = tensor.value;
    EXPECT_FALSE(tensors_.empty()) << name;
    for (const auto& [key, value] : tensors_)
      if (key.starts_with("in/"))
        inputs_[key.substr(3)] = Variable(value, tensors_.contains("grad_" + key));
  }
  // Undefined if the case has no such input.
  Variable operator[](const std::string& input) const {
    const auto found = inputs_.find(input);
    return found == inputs_.end() ? Variable() : found->second;
  }
  std::vector<NamedTensor> State() const { return Below("param/"); }
  std::vector<NamedTensor> Below(const std::string& folder) const {
    std::vector<NamedTensor> found;
    for (const auto& [key, value] : tensors_)
      if (key.starts_with(folder)) found.push_back({key.substr(folder.size()), value});
    return found;
  }
  // Of the longest sum: no case has longer ones than its largest tensor has elements.
  int64_t Terms() const {
    int64_t most = 0;
    for (const auto& [key, value] : tensors_) most = std::max(most, value.numel());
    return most;
  }

 private:
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, Variable> inputs_;
};

void ExpectNear(const std::string& what, const Tensor& got, const Tensor& want, int64_t terms) {
  ASSERT_TRUE(got.defined()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const auto g = ToVector<double>(got), w = ToVector<double>(want);
  double largest = 1;  // terms are of that size at least
  for (const double v : w) largest = std::max(largest, std::fabs(v));
  const double tolerance = testing::Tolerance(DType::kF64, terms, largest);
  for (size_t i = 0; i < w.size(); ++i) ASSERT_NEAR(g[i], w[i], tolerance) << what << ", " << i;
}

double LargestDifference(const Tensor& a, const Tensor& b) {
  const auto x = ToVector<double>(a), y = ToVector<double>(b);
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::fabs(x[i] - y[i]));
  return largest;
}

using Call = std::function<std::vector<Variable>(const GoldenCase& in)>;

void ExpectPyTorchs(const std::string& name, Module& layer, const Call& call) {
  SCOPED_TRACE(name);
  const GoldenCase golden(name);
  LoadStateDict(layer, golden.State(), name);
  const std::vector<Variable> outputs = call(golden);
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string number = std::to_string(i);
    ExpectNear("output " + number, outputs[i].data(), golden.Below("out/" + number)[0].value,
               golden.Terms());
    gradients.push_back(golden.Below("grad_out/" + number)[0].value);
  }
  Backward(outputs, gradients);
  for (const NamedTensor& want : golden.Below("grad_in/"))
    ExpectNear(want.name, golden[want.name].grad(), want.value, golden.Terms());
  std::map<std::string, Tensor> got;
  for (const NamedVariable& p : layer.Parameters()) got[p.name] = p.value.grad();
  const std::vector<NamedTensor> wanted = golden.Below("grad_param/");
  EXPECT_EQ(wanted.size(), got.size());
  for (const NamedTensor& want : wanted)
    ExpectNear("gradient of " + want.name, got[want.name], want.value, golden.Terms());
}

constexpr MultiheadAttentionOptions kAttention{
    .embed_dim = 6, .num_heads = 3, .dtype = DType::kF64};

// The arguments that the case has; an absent key is the query, an absent value the key.
Call AttentionOf(MultiheadAttention& layer, bool causal = false) {
  return [&layer, causal](const GoldenCase& in) {
    const Variable key = in["key"].defined() ? in["key"] : in["query"];
    const Variable value = in["value"].defined() ? in["value"] : key;
    return std::vector{layer.Attend(in["query"], key, value,
                                    {in["attn_mask"], in["key_padding_mask"], causal}, {})};
  };
}

TEST(Attention, IsPyTorchs) {
  for (const char* name : {"attention.self", "attention.added"}) {
    MultiheadAttention layer(kAttention);
    ExpectPyTorchs(name, layer, AttentionOf(layer));
  }
  MultiheadAttentionOptions bare = kAttention;
  bare.bias = false;
  MultiheadAttention without(bare);
  ExpectPyTorchs("attention.bool", without, AttentionOf(without));
  MultiheadAttentionOptions widths = kAttention;
  widths.kdim = 3;
  widths.vdim = 7;
  MultiheadAttention apart(widths);
  ExpectPyTorchs("attention.widths", apart, AttentionOf(apart));
  MultiheadAttention causal(kAttention);
  ExpectPyTorchs("attention.causal", causal, AttentionOf(causal, true));
}

Variable Random(const Shape& shape, DType dtype = DType::kF32) {
  Tensor x(shape, dtype);
  FillNormal(x, 0, 1, RandomStream({.seed = 5}));
  return Variable(x);
}

TEST(Attention, IsCausalWithoutOtherMasksAndForwardSeesAll) {
  MultiheadAttention layer(kAttention);
  layer.Initialize(1);
  const Variable x = Random({2, 4, 6}, DType::kF64), first(x.data().Narrow(1, 0, 2).Contiguous());
  const auto of = [&](const Variable& x, bool causal) {
    return layer.Attend(x, x, x, {.is_causal = causal}, {}).data().Narrow(1, 0, 2);
  };
  ExpectNear("later tokens change nothing", of(x, true), of(first, true), 24);
  EXPECT_GT(LargestDifference(of(x, false), of(first, false)), 1e-3);
  ExpectNear("forward", layer.Forward(x, {}).data().Narrow(1, 0, 2), of(x, false), 24);
}

TEST(Attention, StartsWithXavierUniformProjectionsAndZeroBiases) {
  MultiheadAttention layer({.embed_dim = 6, .num_heads = 3});
  layer.Initialize(1);
  std::map<std::string, double> largest;
  for (const NamedVariable& p : layer.Parameters())
    for (const float v : ToVector<float>(p.value.data()))
      largest[p.name] = std::max<double>(largest[p.name], std::fabs(v));
  EXPECT_EQ(largest.at("in_proj_bias"), 0);
  EXPECT_EQ(largest.at("out_proj.bias"), 0);
  const double xavier = std::sqrt(6.0 / 24), fan_in = 1 / std::sqrt(6.0);
  EXPECT_LE(largest.at("in_proj_weight"), xavier);
  EXPECT_GT(largest.at("in_proj_weight"), 0.8 * xavier) << "the largest of 108";
  EXPECT_LE(largest.at("out_proj.weight"), fan_in);
  EXPECT_GT(largest.at("out_proj.weight"), 0.6 * fan_in) << "the largest of 36";
}

TEST(Attention, RefusesWhatDoesNotFit) {
  EXPECT_THROW(MultiheadAttention({.embed_dim = 6, .num_heads = 4}), BadInput);
  MultiheadAttention layer({.embed_dim = 6, .num_heads = 3});
  layer.Initialize(1);
  const Variable x = Random({2, 4, 6});
  const auto with = [&](const AttentionMasks& masks) { layer.Attend(x, x, x, masks, {}); };
  const Variable square(Zeros({4, 4}, DType::kBool)), wide(Zeros({2, 5}, DType::kBool));
  EXPECT_NO_THROW(with({.attn_mask = square}));
  EXPECT_THROW(with({.attn_mask = wide}), BadInput);
  EXPECT_THROW(with({.key_padding_mask = wide}), BadInput);
  EXPECT_THROW(with({.attn_mask = Variable(Zeros({4, 4}, DType::kI64))}), BadInput);
  EXPECT_THROW(layer.Attend(x, Random({1, 4, 6}), x, {}, {}), BadInput);
}

TransformerLayerOptions SmallTransformer(const std::string& name) {
  const bool pre = name == "pre";
  return {.d_model = 6,
          .nhead = 2,
          .dim_feedforward = 10,
          .dropout = 0,
          .activation = pre ? "gelu" : "relu",
          .layer_norm_eps = 1e-3,
          .norm_first = pre,
          .dtype = DType::kF64};
}

TEST(Transformer, IsPyTorchs) {
  for (const std::string name : {"post", "pre"}) {
    const TransformerLayerOptions options = SmallTransformer(name);
    TransformerEncoder encoder(options, 2, name == "pre");
    ExpectPyTorchs("encoder." + name, encoder, [&](const GoldenCase& in) {
      const AttentionMasks masks{.key_padding_mask = in["src_key_padding_mask"]};
      return std::vector{encoder.Encode(in["src"], masks, {})};
    });
    TransformerDecoder decoder(options, 2, name == "pre");
    ExpectPyTorchs("decoder." + name, decoder, [&](const GoldenCase& in) {
      return std::vector{decoder.Decode(in["tgt"], in["memory"], {.attn_mask = in["tgt_mask"]},
                                        {.key_padding_mask = in["memory_key_padding_mask"]}, {})};
    });
  }
}

// A stack is what its layers are one by one, as a pipeline runs them, masks and memory included.
TEST(Transformer, StacksPassMasksAndMemoryOn) {
  const TransformerLayerOptions options = SmallTransformer("pre");
  const Variable x = Random({2, 3, 6}, DType::kF64),
                 padding(FromVector<uint8_t>({0, 0, 1, 0, 1, 1}, {2, 3}).To(DType::kBool));
  TransformerEncoder encoder(options, 2);
  encoder.Initialize(3);
  const auto piecewise = encoder.ForwardAll({x, padding}, {});
  ASSERT_EQ(piecewise.size(), 2u);
  EXPECT_EQ(piecewise[1], padding);
  const Variable whole = encoder.Encode(x, {.key_padding_mask = padding}, {});
  EXPECT_EQ(ToVector<double>(piecewise[0].data()), ToVector<double>(whole.data()));
  EXPECT_NE(ToVector<double>(encoder.Forward(x, {}).data()), ToVector<double>(whole.data()));

  TransformerDecoder decoder(options, 2);
  decoder.Initialize(3);
  const auto decoded = decoder.ForwardAll({x, whole}, {});
  ASSERT_EQ(decoded.size(), 2u);
  EXPECT_EQ(ToVector<double>(decoded[0].data()),
            ToVector<double>(decoder.Decode(x, whole, {.is_causal = true}, {}, {}).data()));
  EXPECT_THROW(decoder.Forward(x, {}), BadInput);
}

// Each of a layer's dropouts has a number of its own.
TEST(Transformer, DropsByLayerAndSample) {
  TransformerLayerOptions options = SmallTransformer("post");
  options.dropout = 0.5;
  TransformerEncoder encoder(options, 2);
  encoder.Initialize(1);
  const auto of = [&](const std::vector<int64_t>& samples, int64_t step) {
    const Variable x(Full({std::ssize(samples), 3, 6}, 1, DType::kF64));
    return encoder.Forward(x, {.seed = 1, .step = step, .samples = samples}).data();
  };
  ExpectNear("sample 7", of({4, 7}, 0).Narrow(0, 1, 1), of({7}, 0), 200);
  EXPECT_GT(LargestDifference(of({7}, 0), of({7}, 1)), 1e-3);
  EXPECT_GT(LargestDifference(of({7}, 0), of({4}, 0)), 1e-3);
}

template <class Layer>
Call RecurrentOf(Layer& layer) {
  return [&layer](const GoldenCase& in) {
    const RecurrentOutput y = layer.Run(in["input"], {in["h"], in["c"]}, {});
    std::vector<Variable> outputs{y.output, y.state.h};
    if (y.state.c.defined()) outputs.push_back(y.state.c);
    return outputs;
  };
}

template <class Layer>
void ExpectRecurrent(const std::string& name, const RecurrentOptions& options) {
  Layer layer(options);
  ExpectPyTorchs(name, layer, RecurrentOf(layer));
}

TEST(Recurrent, IsPyTorchs) {
  const RecurrentOptions plain{.input_size = 3, .hidden_size = 4, .dtype = DType::kF64};
  RecurrentOptions deep = plain, bare = plain, projected = plain;
  deep.num_layers = projected.num_layers = 2;
  deep.batch_first = deep.bidirectional = true;
  bare.bias = false;
  projected.proj_size = 2;
  ExpectRecurrent<Lstm>("lstm.plain", plain);
  ExpectRecurrent<Lstm>("lstm.deep", deep);
  ExpectRecurrent<Lstm>("lstm.bare", bare);
  ExpectRecurrent<Lstm>("lstm.projected", projected);
  ExpectRecurrent<Gru>("gru.plain", plain);
  ExpectRecurrent<Gru>("gru.deep", deep);
  ExpectRecurrent<Gru>("gru.bare", bare);
}

// The output and the gradients of all parameters, which are `values`.
std::vector<Tensor> ResultsOf(DType dtype, const std::vector<Tensor>& values) {
  Lstm layer(
      {.input_size = 3, .hidden_size = 4, .num_layers = 2, .bidirectional = true, .dtype = dtype});
  std::vector<NamedVariable> parameters = layer.Parameters();
  layer.Initialize(1);
  for (size_t i = 0; i < values.size(); ++i) parameters[i].value.SetData(values[i].To(dtype));
  const RecurrentOutput y =
      layer.Run(Variable(Random({9, 2, 3}).data().To(dtype)), {}, StepContext());
  Backward({y.output, y.state.h, y.state.c},
           {Full(y.output.shape(), 1, dtype), Full(y.state.h.shape(), 2, dtype),
            Full(y.state.c.shape(), 3, dtype)});
  std::vector<Tensor> results{y.output.data(), y.state.h.data(), y.state.c.data()};
  for (const NamedVariable& p : parameters) results.push_back(p.value.grad());
  return results;
}

// In f32 an LSTM takes all steps of a layer in one op, which the cases in f64 do not.
TEST(Recurrent, LstmInF32IsThatInF64) {
  Lstm given({.input_size = 3, .hidden_size = 4, .num_layers = 2, .bidirectional = true});
  given.Initialize(2);
  std::vector<Tensor> values;
  for (const NamedVariable& p : given.Parameters()) values.push_back(p.value.data());
  const auto got = ResultsOf(DType::kF32, values), want = ResultsOf(DType::kF64, values);
  for (size_t i = 0; i < want.size(); ++i) {
    double largest = 1;
    for (const double v : ToVector<double>(want[i].Contiguous()))
      largest = std::max(largest, std::fabs(v));
    EXPECT_LT(LargestDifference(got[i].To(DType::kF64), want[i]),
              testing::Tolerance(DType::kF32, 200, largest))
        << i;
  }
}

TEST(Recurrent, DropsBetweenLayersBySample) {
  for (const bool batch_first : {false, true}) {
    Gru layer({.input_size = 3,
               .hidden_size = 4,
               .num_layers = 2,
               .batch_first = batch_first,
               .dropout = 0.5,
               .dtype = DType::kF64});
    layer.Initialize(1);
    const auto of = [&](const std::vector<int64_t>& samples, bool training) {
      const int64_t n = std::ssize(samples);
      const Variable x(Full(batch_first ? Shape{n, 5, 3} : Shape{5, n, 3}, 1, DType::kF64));
      const StepContext ctx{.seed = 1, .training = training, .samples = samples};
      return layer.Run(x, {}, ctx).state.h.data().Select(0, 1);
    };
    ExpectNear("sample 7", of({4, 7}, true).Narrow(0, 1, 1), of({7}, true), 200);
    EXPECT_GT(LargestDifference(of({4}, true), of({7}, true)), 1e-3);
    ExpectNear("evaluation", of({4}, false), of({7}, false), 200);
  }
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Lstm({.input_size = 3}), BadInput);
  EXPECT_THROW(Lstm({.input_size = 3, .hidden_size = 4, .proj_size = 4}), BadInput);
  EXPECT_THROW(Gru({.input_size = 3, .hidden_size = 4, .proj_size = 2}), BadInput);
  EXPECT_THROW(Gru({.input_size = 3, .hidden_size = 4, .dropout = 2}), BadInput);
  Gru layer({.input_size = 3, .hidden_size = 4});
  layer.Initialize(1);
  const Variable x = Random({5, 2, 3});
  EXPECT_NO_THROW(layer.Run(x, {.h = Random({1, 2, 4})}, {}));
  EXPECT_THROW(layer.Run(x, {.h = Random({2, 4})}, {}), BadInput);
  EXPECT_THROW(layer.Run(x, {.c = Random({1, 2, 4})}, {}), BadInput) << "GRU has no c";
  EXPECT_THROW(layer.Forward(Random({5, 2, 4}), {}), BadInput);
  EXPECT_THROW(layer.Forward(Random({5, 3}), {}), BadInput);
  EXPECT_THROW(layer.Forward(Random({0, 2, 3}), {}), BadInput);
}

// In f32 on meta, as costs are counted.
TEST(Layers, HaveShapesWithoutMemory) {
  const auto meta = [](const Shape& shape) {
    return Variable(Empty(shape, DType::kF32, kMetaDevice));
  };
  Lstm lstm({.input_size = 3, .hidden_size = 4, .bidirectional = true});
  EXPECT_EQ(lstm.Forward(meta({5, 2, 3}), {}).shape(), Shape({5, 2, 8}));
  TransformerEncoder encoder({.d_model = 6, .nhead = 2}, 1, true);
  const Variable padding(Empty({2, 3}, DType::kBool, kMetaDevice));
  const StepContext ctx{.samples = {0, 1}};
  EXPECT_EQ(encoder.ForwardAll({meta({2, 3, 6}), padding}, ctx)[0].shape(), Shape({2, 3, 6}));
}

}  // namespace
}  // namespace torus::nn
