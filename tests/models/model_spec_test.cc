// Models by the text that names them, and by the configuration of their weights.
#include "models/model_spec.h"

#include <gtest/gtest.h>

#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "models/nn/conv2d.h"
#include "models/nn/global_average_pool.h"
#include "models/nn/linear.h"
#include "runtime/error.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;

std::string ErrorOfSpec(const std::string& spec) {
  return ErrorOf([&] { ParseModelSpec(spec); });
}

TEST(ParseModelSpec, ReadsTheSizeBehindTheColon) {
  EXPECT_EQ(ParseModelSpec("gpt2").title, "GPT-2");
  const ModelSpec layers = ParseModelSpec("roberta:4");
  EXPECT_EQ(layers.title, "RoBERTa of 4 layers");
  EXPECT_EQ(layers.Config(3).at("num_hidden_layers"), 4);
  EXPECT_EQ(layers.Config(3).at("id2label").size(), 3u);
  const ModelSpec width = ParseModelSpec("mobilenet_v2:0.35");
  EXPECT_EQ(width.title, "MobileNetV2 x 0.35");
  EXPECT_EQ(width.Config(10), (nlohmann::json{{"num_classes", 10}, {"width_mult", 0.35}}));
  const ModelSpec both = ParseModelSpec("amoebanetd:36,544");
  EXPECT_EQ(both.title, "AmoebaNet-D (36, 544)");
  EXPECT_EQ(both.Config(10).at("num_filters"), 544);
}

TEST(ParseModelSpec, AVisionTransformersConfigurationNamesItsHeads) {
  const auto heads = [](const char* spec) {
    return ParseModelSpec(spec).Config(10).at("num_heads");
  };
  EXPECT_EQ(heads("vit_s_16:64"), 6);
  EXPECT_EQ(heads("vit_b_16"), 12);
  EXPECT_EQ(heads("vision_transformer:24,8,2,3,12,20"), 3);
}

TEST(ParseModelSpec, RefusesWhatAModelDoesNotTake) {
  EXPECT_NE(ErrorOfSpec("gpt5").find("must be one of mobilenet_v2, vgg11, "), std::string::npos);
  EXPECT_EQ(ErrorOfSpec("vgg13:2"), "[model] vgg13:2: vgg13 takes nothing after a colon");
  EXPECT_EQ(ErrorOfSpec("amoebanetd:18"), "[model] amoebanetd:18: needs amoebanetd:LAYERS,FILTERS");
  EXPECT_EQ(ErrorOfSpec("gpt2:4,5"), "[model] gpt2:4,5: needs gpt2:LAYERS");
  for (const char* spec : {"gpt2:", "gpt2:0", "gpt2:-1", "gpt2:x", "gpt2:4.5", "gpt2:1001"})
    EXPECT_NE(
        ErrorOfSpec(spec).find("the number of layers must be a whole number above 0 and at most "
                               "1000"),
        std::string::npos)
        << spec;
  EXPECT_NE(ErrorOfSpec("mobilenet_v2:nan").find("the width must be a number"), std::string::npos);
}

// As configurations of before model_type, and of some programs, say it.
TEST(DescriptorOfConfig, AnArchitectureSaysTheModelToo) {
  const auto name = [](const char* architecture) {
    return DescriptorOfConfig({{"architectures", {architecture}}}, "config.json").name;
  };
  EXPECT_EQ(name("GPT2LMHeadModel"), "gpt2");
  EXPECT_EQ(name("LlamaForCausalLM"), "llama");
  EXPECT_EQ(name("RobertaForSequenceClassification"), "roberta");
  EXPECT_EQ(name("RobertaForMaskedLM"), "roberta-mlm");
  EXPECT_NE(
      ErrorOf([&] { name("BertModel"); }).find("model_type must be one of gpt2, llama, roberta"),
      std::string::npos);
}

// Also of an application's models.
TEST(DescriptorOfConfig, AnArchitectureSaysAModelThatWasAdded) {
  ModelDescriptor bert{.name = "bert", .transformers = {.model_type = "bert"}};
  ModelDescriptor other{.name = "bertha", .transformers = {.model_type = "bertha"}};
  const auto name = [&](const char* architecture) {
    return DescriptorOfConfig({{"architectures", {architecture}}}, "config.json", {bert, other})
        .name;
  };
  EXPECT_EQ(name("BertModel"), "bert");
  EXPECT_EQ(name("BerthaModel"), "bertha");
}

// What the programs read of each; a model that says less could not be run by its name.
TEST(Models, EachSaysAllOfItself) {
  for (const ModelDescriptor& model : Models()) {
    EXPECT_FALSE(model.title.empty()) << model.name;
    EXPECT_EQ(model.task == ModelTask::kImages, model.tokenizer.empty()) << model.name;
    EXPECT_EQ(model.task == ModelTask::kImages, model.published.tokens == 0) << model.name;
    const nlohmann::json config = model.config({}, 7);
    if (model.sizes) {
      EXPECT_EQ(model.sizes(config, model.name).outputs, 7) << model.name;
      EXPECT_EQ(model.sizes(config, model.name).input, model.published.input) << model.name;
    }
    if (model.transformers.model_type.empty()) continue;
    const ModelDescriptor& found = DescriptorOfConfig(config, model.name);
    EXPECT_EQ(found.transformers.model_type, model.transformers.model_type);
    EXPECT_EQ(found.task, model.task) << model.name;
  }
}

TEST(Models, AConfigurationIsReadInFull) {
  for (const char* name : {"mobilenet_v2", "vgg13", "resnet18", "cifar_resnet20", "amoebanetd"})
    EXPECT_NE(ErrorOf([&] {
                ParseModelSpec(name).build({{"norm_layer", "group"}}, "case", {});
              }).find("[case] has settings that are not known here: norm_layer"),
              std::string::npos)
        << name;
}

// A convolution and a linear layer, of an application's own.
ModelDescriptor TinyModel() {
  return {
      .name = "tiny",
      .title = "Tiny",
      .published = {.outputs = 4, .input = 8},
      .size_numbers = {{"CHANNELS", "number of channels", 64}},
      .size_title = " of {} channels",
      .config =
          [](std::span<const double> sizes, int64_t outputs) {
            return nlohmann::json{{"classes", outputs}, {"channels", sizes.empty() ? 2 : sizes[0]}};
          },
      .build =
          [](const nlohmann::json& config, const std::string&, const BuildOptions&) {
            const int64_t channels = config.at("channels");
            auto model = std::make_shared<nn::Sequential>();
            model->Add("conv", nn::Conv2d({.in = 3, .out = channels, .kernel = 3, .bias = false}));
            model->Add("pool", nn::GlobalAveragePool());
            model->Add("fc", nn::Linear({.in = channels, .out = config.at("classes")}));
            return model;
          }};
}

TEST(Models, AnApplicationGivesItsOwn) {
  const ModelSpec tiny = ParseModelSpec("tiny:6", {TinyModel()});
  EXPECT_EQ(tiny.title, "Tiny of 6 channels");
  const auto model = BuildModel(tiny, 5, /*seed=*/1);
  const Variable logits = model->Forward(Variable(Zeros({2, 8, 8, 3})), {});
  EXPECT_EQ(logits.shape(), (Shape{2, 5}));
  EXPECT_EQ(tiny.loss({logits}, Zeros({2}, DType::kI64)).rank(), 0);
}

constexpr int64_t kOutputs = 5;

// Weights of the right names and shapes say nothing of these.
TEST(BuildModel, RefusesAFolderOfAnotherFunction) {
  const ModelSpec model = ParseModelSpec("gpt-char:1");
  const std::string folder = ::testing::TempDir() + "/other";
  const auto saved = BuildModel(model, kOutputs, 1);
  nlohmann::json config = TransformersConfigOf(model, kOutputs);
  BodyNotes notes;
  WriteHuggingFace(folder, {config, StateDict(*saved)});
  const auto error = [&](BodyNotes* how) {
    return ErrorOf([&] { BuildModel(model, kOutputs, 1, folder, how); });
  };
  EXPECT_EQ(error(&notes), "no error");
  EXPECT_EQ(error(nullptr), "no error");
  config["n_head"] = 8;
  config["activation_function"] = "relu";
  WriteHuggingFace(folder, {config, StateDict(*saved)});
  for (BodyNotes* how : {&notes, static_cast<BodyNotes*>(nullptr)})
    EXPECT_NE(error(how).find("activation_function is \"relu\" and must be \"gelu\"; "
                              "n_head is 8 and must be 4"),
              std::string::npos);
}

}  // namespace
}  // namespace torus
