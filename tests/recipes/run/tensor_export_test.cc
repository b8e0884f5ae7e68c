// What a run of tensor-parallel ranks exports is a whole model: evaluate and generate make of it
// what the run itself did, and what they make of the export of one rank with the same weights.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "models/model_spec.h"
#include "recipes/evaluate/evaluate.h"
#include "recipes/generate/generator.h"
#include "recipes/run/run.h"
#include "runtime/io/json.h"
#include "runtime/io/safetensors.h"
#include "tests/data/text/small_bpe.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes::testing {
namespace {

constexpr int64_t kWidth = 16, kInner = 64, kLayers = 2, kLength = 12;

// The registry's model of that name with other numbers in its configuration.
ModelDescriptor Small(const std::string& name, const nlohmann::json& numbers) {
  ModelDescriptor model = ParseModelSpec(name);
  model.config = [base = model.config, numbers](std::span<const double> sizes, int64_t outputs) {
    nlohmann::json config = base(sizes, outputs);
    config.update(numbers);
    return config;
  };
  return model;
}

const std::vector<ModelDescriptor>& SmallModels() {
  static const std::vector<ModelDescriptor> models{
      Small("gpt-char", {{"n_embd", kWidth},
                         {"n_inner", kInner},
                         {"n_layer", kLayers},
                         {"n_head", 4},
                         {"n_positions", kLength}}),
      Small("roberta-mlm", {{"hidden_size", kWidth},
                            {"intermediate_size", kInner},
                            {"num_hidden_layers", kLayers},
                            {"num_attention_heads", 4},
                            {"max_position_embeddings", kLength + 2}}),
      Small("llama", {{"hidden_size", kWidth},
                      {"intermediate_size", kInner},
                      {"num_hidden_layers", kLayers},
                      {"num_attention_heads", 4},
                      {"num_key_value_heads", 2},
                      {"head_dim", kWidth / 4},
                      {"max_position_embeddings", kLength}})};
  return models;
}

class TensorExport : public ::testing::TestWithParam<std::string> {
 protected:
  TensorExport() : folder_(::testing::TempDir() + "/tensor_export " + GetParam()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::string text;
    for (int i = 0; i < 300; ++i) text += fmt::format("ab line {} of the text ab. ", i);
    data::WriteText(folder_, "text.txt", text);
    if (masked()) data::WriteSmallBpe(folder_, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  }
  bool masked() const { return GetParam() == "roberta-mlm"; }

  // Into the folder of that name; goes on with the run in `from`, where that is given.
  RunResult Train(const std::string& name, int64_t tensor, const std::string& from = "") const {
    RunOptions options{.out = folder_ + "/" + name, .max_steps = 4};
    Settings& s = options.settings;
    s.model = GetParam();
    s.models = &SmallModels();
    s.data = "text";
    s.data_dir = folder_ + "/text.txt";
    if (masked()) s.vocab_dir = folder_;
    s.length = kLength;
    s.epoch_size = 64;
    s.batch_size = 8;
    s.micro_batches = 2;
    s.optimizer = "adamw";
    s.lr = 0.01;
    s.tensor = tensor;
    s.threads = 2;
    if (!from.empty()) options.resume = folder_ + "/" + from;
    return recipes::Run(options);
  }

  TextEvaluation Test(const std::string& weights) const {
    const EvaluateResult result = Evaluate(
        {.init = weights, .data = "text", .data_dir = folder_ + "/text.txt", .length = kLength});
    EXPECT_TRUE(result.text.has_value());
    return result.text.value_or(TextEvaluation{});
  }

  const std::string folder_;
};

void ExpectSameTensors(const std::string& a, const std::string& b) {
  const std::vector<NamedTensor> x = ReadSafetensors(a + "/model.safetensors").tensors,
                                 y = ReadSafetensors(b + "/model.safetensors").tensors;
  ASSERT_EQ(x.size(), y.size());
  EXPECT_GT(x.size(), 6u * kLayers);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(x[i].name, y[i].name);
    EXPECT_EQ(x[i].value.shape(), y[i].value.shape()) << x[i].name;
    EXPECT_EQ(ToVector<float>(x[i].value), ToVector<float>(y[i].value)) << x[i].name;
  }
}

// The run and evaluate go through the same windows of the text, the run on two ranks.
TEST_P(TensorExport, IsWhatTheRunHasTested) {
  const RunResult two = Train("two", 2);
  ASSERT_TRUE(two.test.has_value());
  const double loss = two.test->loss;
  // Forward sums through the layers, over the wider one's inputs.
  const double tolerance = 2 * torus::testing::Tolerance(DType::kF32, (kLayers + 2) * kInner, loss);
  EXPECT_NEAR(Test(two.model).loss, loss, tolerance);
  EXPECT_NEAR(Test(two.folder + "/checkpoint").loss, loss, tolerance);
}

TEST_P(TensorExport, IsThatOfOneRankWithTheSameWeights) {
  const RunResult two = Train("two", 2), one = Train("one", 1, "two");
  EXPECT_EQ(one.step, two.step);
  ExpectSameTensors(two.model, one.model);
  const TextEvaluation a = Test(two.model), b = Test(one.model);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.loss, b.loss);
  if (masked()) return;
  const auto text = [](const std::string& model) {
    return Generate({.model = model, .prompt = "ab", .tokens = 30, .seed = 7});
  };
  const std::string generated = text(two.model);
  EXPECT_FALSE(generated.empty());
  EXPECT_EQ(generated, text(one.model));
  EXPECT_EQ(generated, text(two.folder + "/checkpoint"));
}

// What is compared above is not of weights as they began.
TEST_P(TensorExport, HasLearnt) {
  const RunResult two = Train("two", 2);
  const TextEvaluation after = Test(two.model);
  EXPECT_LT(after.loss, std::log(256.0) - 0.1);
}

// transformers takes 1 and 2 where the configuration of a Llama does not say.
TEST(LlamaExport, NamesTheTokensThatItsTokenizerPutsAroundATextOrNone) {
  const std::string folder = ::testing::TempDir() + "/llama_export";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("ab line {} of the text ab. ", i);
  data::WriteText(folder, "text.txt", text);
  data::WriteSmallBpe(folder, {"<s>", "</s>"});  // 258 and 259
  data::WriteText(folder, "tokenizer_config.json",
                  R"({"tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": true,
                      "bos_token": "<s>", "eos_token": "</s>"})");
  const auto config_of = [&](const std::string& tokenizer, const std::string& vocab_dir) {
    RunOptions options{.out = folder + "/" + tokenizer, .max_steps = 1};
    Settings& s = options.settings;
    s.model = "llama";
    s.models = &SmallModels();
    s.data = "text";
    s.data_dir = folder + "/text.txt";
    s.tokenizer = tokenizer;
    s.vocab_dir = vocab_dir;
    s.length = kLength;
    s.epoch_size = 8;
    s.batch_size = 8;
    s.micro_batches = 2;
    s.optimizer = "adamw";
    s.threads = 2;
    return io::ReadJsonObject(recipes::Run(options).model + "/config.json");
  };
  const nlohmann::json none = config_of("bytes", ""), both = config_of("json", folder);
  EXPECT_TRUE(none.at("bos_token_id").is_null());
  EXPECT_TRUE(none.at("eos_token_id").is_null());
  EXPECT_EQ(both.at("bos_token_id"), 258);
  EXPECT_EQ(both.at("eos_token_id"), 259);
}

INSTANTIATE_TEST_SUITE_P(Models, TensorExport, ::testing::Values("gpt-char", "roberta-mlm"),
                         [](const auto& info) {
                           return info.param == "gpt-char" ? "Gpt" : "Roberta";
                         });

}  // namespace
}  // namespace torus::recipes::testing
