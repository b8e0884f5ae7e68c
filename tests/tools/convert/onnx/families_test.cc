// Graphs of each family against the models, both in f64, and what a file says of itself.
#include "tools/convert/onnx/families.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "autograd/node.h"
#include "models/gpt2/config.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/model_spec.h"
#include "models/resnet/cifar_resnet.h"
#include "models/resnet/resnet.h"
#include "models/roberta/config.h"
#include "models/vgg/vgg.h"
#include "models/vit/vit.h"
#include "tests/models/small_text_models.h"
#include "tests/testing/error_of.h"
#include "tests/tools/convert/onnx/hashed_inputs.h"
#include "tests/tools/convert/onnx/hashed_model.h"
#include "tests/tools/convert/onnx/run_graph.h"

namespace torus::onnx::testing {
namespace {

using Model = std::shared_ptr<nn::Sequential>;

struct Case {
  std::string name;
  std::string spec;       // whose family it is
  nlohmann::json config;  // for what the weights do not say
  std::function<Model(DType)> build;
  std::vector<Tensor> inputs;
  std::vector<std::string> sizes;  // of all inputs and the output; a number, or a free one's name
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

template <class Options>
std::function<Model(DType)> Of(Model (*build)(const Options&), Options options) {
  return [=](DType dtype) {
    Options own = options;
    own.dtype = dtype;
    return build(own);
  };
}

Case ImageCase(const std::string& spec, const std::function<Model(DType)>& build, int64_t height,
               int64_t width, bool fixed = false) {
  const std::string h = fixed ? std::to_string(height) : "height";
  const std::string w = fixed ? std::to_string(width) : "width";
  return {fmt::format("{}_{}x{}", spec, height, width),
          spec,
          nlohmann::json::object(),
          build,
          {HashedImages(height, width)},
          {"batch", "3", h, w, "batch", "7"}};
}

Case VitCase() {
  const VitOptions o{.image_size = 24,
                     .patch_size = 8,
                     .num_layers = 2,
                     .num_heads = 3,
                     .hidden_dim = 12,
                     .mlp_dim = 20,
                     .num_classes = 7,
                     .representation_size = 10};
  Case made = ImageCase("vision_transformer", Of(Vit, o), 24, 24, true);
  made.config = {{"num_heads", 3}};
  return made;
}

Case Gpt2Case(const std::string& name, const Gpt2Options& o) {
  return {name,
          "gpt2",
          ToConfig(o),
          Of(Gpt2, o),
          HashedTexts(9, o.vocab_size),
          {"batch", "length", "batch", "length", "30"}};
}

Case Gpt2WithActivation(const std::string& activation) {
  Gpt2Options o = torus::testing::SmallGpt2();
  o.activation_function = activation;
  return Gpt2Case("gpt2_" + activation, o);
}

Case UnusualGpt2() {
  Gpt2Options o = torus::testing::SmallGpt2();
  o.bias = o.tie_word_embeddings = false;
  o.scale_attn_by_inverse_layer_idx = true;
  o.n_inner = 5;
  return Gpt2Case("gpt2_unusual", o);
}

Case RobertaCase(RobertaHead head) {
  RobertaOptions o = torus::testing::SmallRoberta();
  o.head = head;
  const bool lm = head == RobertaHead::kMaskedLm;
  Case made{lm ? "roberta_mlm" : "roberta",
            lm ? "roberta-mlm" : "roberta",
            ToConfig(o),
            Of(Roberta, o),
            HashedTexts(7, o.vocab_size, o.pad_token_id),
            {"batch", "length", "batch", "length", "batch"}};
  const std::vector<std::string> rest =
      lm ? std::vector<std::string>{"length", "40"} : std::vector<std::string>{"3"};
  made.sizes.insert(made.sizes.end(), rest.begin(), rest.end());
  return made;
}

std::vector<Case> Cases() {
  const VggOptions vgg{.depth = 11, .num_classes = 7, .hidden = 16};
  VggOptions vgg_bn = vgg;
  vgg_bn.batch_norm = true;
  std::vector<Case> cases{
      ImageCase("resnet18", Of(ResNet, {.depth = 18, .num_classes = 7}), 40, 56),
      ImageCase("resnet50", Of(ResNet, {.depth = 50, .num_classes = 7}), 33, 32),
      ImageCase("cifar_resnet20", Of(CifarResNet, {.depth = 20, .num_classes = 7}), 15, 16),
      ImageCase("vgg11", Of(Vgg, vgg), 32, 32, true),
      ImageCase("vgg11_bn", Of(Vgg, vgg_bn), 64, 64, true),
      ImageCase("mobilenet_v2", Of(MobileNetV2, {.num_classes = 7, .width_mult = 0.25}), 40, 33),
      VitCase(),
      UnusualGpt2(),
      RobertaCase(RobertaHead::kClassification),
      RobertaCase(RobertaHead::kMaskedLm)};
  for (const char* name : {"gelu", "gelu_new", "quick_gelu", "silu", "relu", "tanh", "sigmoid"})
    cases.push_back(Gpt2WithActivation(name));
  return cases;
}

class OnnxFamily : public ::testing::TestWithParam<Case> {
 protected:
  Source SourceOf() const {
    const Case& own = GetParam();
    const Tensor& first = own.inputs[0];
    return {.model = ParseModelSpec(own.spec),
            .config = own.config,
            .state = HashedState(*own.build(DType::kF32)),
            .image_size = first.rank() == 4 ? first.dim(1) : 0};
  }
  // The model's own logits, in f64.
  Tensor Logits() const {
    const Model model = GetParam().build(DType::kF64);
    HashedState(*model);
    std::vector<Variable> inputs;
    for (const Tensor& input : GetParam().inputs)
      inputs.emplace_back(IsFloating(input.dtype()) ? input.To(DType::kF64) : input);
    const NoGrad no_grad;
    return model->ForwardAll(inputs, {.training = false})[0].data();
  }
};

// Nodes that read a number, or have one, that was rounded to f32.
int64_t RoundedNumbers(const GraphProto& graph) {
  int64_t count = 0;
  for (const NodeProto& node : graph.node()) {
    for (const std::string& input : node.input())
      count += input.starts_with("number_") || input.starts_with("pool_");
    for (const AttributeProto& attribute : node.attribute())
      count += attribute.type() == AttributeProto::FLOAT;
  }
  return count;
}

// The graph's weights are the model's bit for bit, so the two differ only by the numbers that ONNX
// has in f32: each moves the values behind it by at most 2^-24 of them. The norms' epsilons move
// them less, being small beside the variances.
TEST_P(OnnxFamily, GivesTheModelsLogits) {
  const ModelProto model = ToOnnx(SourceOf());
  const Tensor got = RunGraph(model.graph(), ToGraph(GetParam().inputs)), wanted = Logits();
  ASSERT_EQ(got.shape(), wanted.shape());
  const std::vector<double> a = ToVector<double>(got), b = ToVector<double>(wanted.Contiguous());
  double largest = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  EXPECT_GT(largest, 0.01);
  const auto roundings = static_cast<double>(1 + RoundedNumbers(model.graph()));
  EXPECT_LE(difference, 0x1p-24 * roundings * largest);
}

void AppendSizes(const ValueInfoProto& value, std::vector<std::string>& sizes) {
  for (const auto& dim : value.type().tensor_type().shape().dim())
    sizes.push_back(dim.has_dim_param() ? dim.dim_param() : std::to_string(dim.dim_value()));
}

TEST_P(OnnxFamily, SaysWhatItTakesAndGives) {
  ModelProto model;  // as a reader of the file sees it
  ASSERT_TRUE(model.ParseFromString(ToOnnx(SourceOf()).SerializeAsString()));
  EXPECT_EQ(model.ir_version(), 8);
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), 17);
  EXPECT_EQ(model.graph().name(), GetParam().spec);
  std::vector<std::string> sizes;
  for (const ValueInfoProto& input : model.graph().input()) AppendSizes(input, sizes);
  ASSERT_EQ(model.graph().output_size(), 1);
  EXPECT_EQ(model.graph().output(0).name(), "logits");
  AppendSizes(model.graph().output(0), sizes);
  EXPECT_EQ(sizes, GetParam().sizes);
}

TEST_P(OnnxFamily, HasEveryWeightOnceUnderItsName) {
  const Source source = SourceOf();
  const ModelProto model = ToOnnx(source);
  std::set<std::string> names;
  std::map<std::string, const TensorProto*> constants;
  for (const TensorProto& constant : model.graph().initializer()) {
    EXPECT_TRUE(names.insert(constant.name()).second) << constant.name();
    constants[constant.name()] = &constant;
  }
  for (const auto& [name, value] : source.state) {
    if (name.ends_with("num_batches_tracked")) continue;
    ASSERT_TRUE(constants.contains(name)) << name;
    const auto& dims = constants[name]->dims();
    EXPECT_EQ(Shape(std::vector<int64_t>(dims.begin(), dims.end())), value.shape()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, OnnxFamily, ::testing::ValuesIn(Cases()),
                         [](const auto& each) { return each.param.name; });

TEST(OnnxFamilies, OthersAreRefusedWithTheNamesOfThese) {
  const std::string error =
      torus::testing::ErrorOf([] { RequireOnnxForm(ParseModelSpec("amoebanetd"), Models()); });
  EXPECT_NE(error.find("[onnx] amoebanetd has no ONNX form; those that have one: mobilenet_v2, "),
            error.npos)
      << error;
  for (const char* name : {"vgg19_bn", "resnet101", "cifar_resnet56", "vit_s_16", "roberta-mlm",
                           "gpt2-xl", "gpt-char"})
    EXPECT_NE(error.find(name), error.npos) << error;
  for (const char* name : {"llama", "gpt3"}) EXPECT_EQ(error.find(name), error.npos) << error;
}

TEST(OnnxFamilies, WeightsThatAFileCannotHoldAreRefused) {
  const Tensor one = Zeros({1});
  Source source{.model = ParseModelSpec("gpt2"), .config = {}, .state = {}};
  source.state.push_back({"transformer.wte.weight", one.Expand({int64_t{1} << 29})});
  EXPECT_EQ(torus::testing::ErrorOf([&] { ToOnnx(source); }),
            "[onnx] a file of ONNX holds weights of up to 2130706432 bytes, got 2147483648 bytes "
            "in f32");
}

}  // namespace
}  // namespace torus::onnx::testing
