#include "models/checkpoint/hugging_face.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "models/checkpoint/load_weights.h"
#include "models/checkpoint/names.h"
#include "models/checkpoint/state_dict.h"
#include "models/gpt2/config.h"
#include "models/gpt2/descriptor.h"
#include "models/llama/config.h"
#include "models/model_spec.h"
#include "models/roberta/config.h"
#include "models/roberta/descriptor.h"
#include "runtime/error.h"
#include "runtime/io/file_sum.h"
#include "runtime/io/safetensors.h"
#include "tests/models/small_text_models.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;
using testing::SameBits;
using testing::SmallGpt2;
using testing::SmallLlama;
using testing::SmallRoberta;

namespace fs = std::filesystem;
using nlohmann::json;

template <class Options>
json ConfigOf(const Options& options) {
  return ToConfig(options);
}

std::shared_ptr<nn::Sequential> ModelOf(const json& config) {
  return DescriptorOfConfig(config, "config.json").build(config, "config.json", {});
}

std::string Folder(const char* name) { return ::testing::TempDir() + "/" + name; }

void RoundTrip(const json& config, uint64_t shard_bytes, const char* name) {
  const auto saved = ModelOf(config), loaded = ModelOf(config);
  saved->Initialize(1);
  loaded->Initialize(2);
  WriteHuggingFace(Folder(name), {config, StateDict(*saved)}, shard_bytes);
  ASSERT_FALSE(SameBits(StateDict(*saved), StateDict(*loaded)));
  LoadWeights(*loaded, Folder(name));
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
  const json read = ReadHuggingFace(Folder(name)).config;
  for (const auto& [key, value] : config.items()) EXPECT_EQ(read.at(key), value) << key;
}

// One bit in the middle of any file that it wrote.
TEST(HuggingFace, DamageOfAnyFileIsFoundAndNamed) {
  const std::string folder = Folder("damaged_model");
  for (const uint64_t shard_bytes : {uint64_t{100}, uint64_t{1} << 20}) {
    fs::remove_all(folder);
    WriteHuggingFace(folder,
                     {.config = ConfigOf(SmallGpt2()),
                      .tensors = {{"a", Arange(20)}, {"b", Arange(30)}},
                      .files = {{"vocab.json", "{\"a\": 0}"}}},
                     shard_bytes);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string file = entry.path().string();
      std::ifstream in(file, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(in), {});
      std::string changed = bytes;
      changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
      std::ofstream(file, std::ios::binary) << changed;
      const std::string error = ErrorOf([&] { ReadHuggingFace(folder); });
      EXPECT_NE(error, "no error") << file;
      std::ofstream(file, std::ios::binary) << bytes;
    }
    EXPECT_EQ(ErrorOf([&] { ReadHuggingFace(folder); }), "no error");
  }
}

TEST(HuggingFace, OneFileKeepsEveryBit) { RoundTrip(ConfigOf(SmallRoberta()), 1 << 30, "whole"); }

TEST(HuggingFace, ShardsKeepEveryBit) {
  LlamaOptions tied = SmallLlama();
  tied.tie_word_embeddings = true;
  for (const LlamaOptions& llama : {SmallLlama(), tied})
    RoundTrip(ConfigOf(llama), 700, llama.tie_word_embeddings ? "tied_llama" : "llama");
  RoundTrip(ConfigOf(SmallGpt2()), 1500, "shards");
  EXPECT_FALSE(fs::exists(Folder("shards") + "/model.safetensors"));
  EXPECT_TRUE(fs::exists(Folder("shards") + "/model-00002-of-00005.safetensors") ||
              fs::exists(Folder("shards") + "/model.safetensors.index.json"));
}

TEST(HuggingFace, OtherDtypesAreCastToTheModels) {
  const json config = ConfigOf(SmallRoberta());
  const auto saved = ModelOf(config), loaded = ModelOf(config);
  saved->Initialize(1);
  std::vector<NamedTensor> state = StateDict(*saved), want = state;
  for (size_t i = 0; i < state.size(); ++i) {
    state[i].value = state[i].value.To(DType::kBF16);
    want[i].value = state[i].value.To(DType::kF32);
  }
  WriteHuggingFace(Folder("bf16"), {config, state});
  LoadWeights(*loaded, Folder("bf16"));
  EXPECT_TRUE(SameBits(StateDict(*loaded), want));
  loaded->Initialize(2);
  const BodyNotes notes = LoadBody(*loaded, Folder("bf16"));
  EXPECT_TRUE(notes.kept.empty());
  EXPECT_TRUE(SameBits(StateDict(*loaded), want));
}

TEST(HuggingFace, TheConfigurationNamesTheDtypeOfTheWeights) {
  WriteHuggingFace(Folder("dtype"), {json::object(),
                                     {{"position_ids", Zeros({1, 4}, DType::kI64)},
                                      {"weight", Zeros({2}, DType::kF16)}}});
  EXPECT_EQ(ReadHuggingFaceConfig(Folder("dtype")).at("torch_dtype"), "float16");
}

TEST(HuggingFace, AnotherNameOfTheDtypeDoesNotContradict) {
  const json config = {{"dtype", "float32"}, {"torch_dtype", "float32"}};
  WriteHuggingFace(Folder("newer"), {config, {{"weight", Zeros({2}, DType::kBF16)}}});
  const json want = {{"torch_dtype", "bfloat16"}};
  EXPECT_EQ(ReadHuggingFaceConfig(Folder("newer")), want);
}

TEST(HuggingFace, FilesBesideTheWeightsAreReadAndWeightsAreNot) {
  using Files = std::map<std::string, std::string>;
  const Files files = {{"tokenizer.json", "{}"},
                       {"merges.txt", "a b\n"},
                       {"vocab.bpe", ""},
                       {"tokenizer.model", std::string("\0\1", 2)},
                       {"chat_template.jinja", "{{ text }}"}};
  std::vector<NamedTensor> tensors = {{"a", Zeros({4})}, {"b", Zeros({4})}};
  WriteHuggingFace(Folder("files"), {.config = json::object(), .tensors = tensors, .files = files},
                   /*shard_bytes=*/16);
  for (const char* other : {"pytorch_model.bin", "pytorch_model.bin.index.json", "README.md"})
    std::ofstream(Folder("files") + "/" + other) << "other";
  fs::create_directory(Folder("files") + "/onnx.json");
  EXPECT_EQ(ReadHuggingFaceFiles(Folder("files")), files);
}

TEST(HuggingFace, AnIndexThatDoesNotFitIsListedInFull) {
  RoundTrip(ConfigOf(SmallGpt2()), 1500, "wrong");
  const fs::path index = fs::path(Folder("wrong")) / "model.safetensors.index.json";
  json content = json::parse(std::ifstream(index));
  const std::string shard = content["weight_map"]["transformer.ln_f.bias"];
  fs::remove(fs::path(Folder("wrong")) / io::kFolderSums);  // which says so at once
  content["weight_map"].erase("transformer.ln_f.bias");
  content["weight_map"]["transformer.ln_g.bias"] = shard;
  content["weight_map"]["transformer.ln_h.bias"] = shard;
  std::ofstream(index) << content;
  EXPECT_EQ(ReadHuggingFace(Folder("wrong")).differences.size(), 3U);
  content["weight_map"].erase("transformer.ln_f.bias");
  json config = ConfigOf(SmallGpt2());
  config["n_layer"] = 3;  // so that tensors are missing
  const std::string error = ErrorOf([&] { LoadWeights(*ModelOf(config), Folder("wrong")); });
  EXPECT_NE(error.find("transformer.h.2.ln_1.weight is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("has transformer.ln_f.bias, which"), std::string::npos) << error;
  EXPECT_NE(error.find("lacks transformer.ln_g.bias"), std::string::npos) << error;
  EXPECT_NE(error.find("lacks transformer.ln_h.bias"), std::string::npos) << error;
  for (const char* path : {"../other.safetensors", "/etc/passwd", "..", "", "a\nb", "a\x7f"}) {
    content["weight_map"]["transformer.ln_g.bias"] = path;
    std::ofstream(index) << content;
    EXPECT_NE(ErrorOf([] { ReadHuggingFace(Folder("wrong")); }).find("is not the name of a file"),
              std::string::npos);
  }
}

TEST(HuggingFace, ConfigurationsAskForNothingThatIsNotThere) {
  auto error = [](json config) { return ErrorOf([&] { ModelOf(config); }); };
  EXPECT_NE(error({{"model_type", "mistral"}}).find("got \"mistral\""), std::string::npos);
  EXPECT_NE(error({{"model_type", "llama"}, {"rope_scaling", {{"rope_type", "yarn"}}}})
                .find("rope_type must be default, linear or llama3, got yarn"),
            std::string::npos);
  EXPECT_NE(
      error({{"model_type", "roberta"}, {"is_decoder", true}}).find("is_decoder must be false"),
      std::string::npos);
  EXPECT_NE(error({{"model_type", "roberta"}, {"hidden_size", "12"}}).find("a whole number"),
            std::string::npos);
  EXPECT_NE(error({{"model_type", "gpt2"}, {"activation_function", "mish"}, {"n_layer", 1}})
                .find("no activation function mish; known: "),
            std::string::npos);
}

// The whole numbers of each model's configuration, and the least that each may be.
TEST(Config, NumbersThatAreTooSmallAreNamedWithTheirValue) {
  using Least = std::vector<std::pair<std::string, int64_t>>;
  const std::map<std::string, Least> keys = {
      {"mobilenet_v2", {{"num_classes", 1}, {"round_nearest", 1}}},
      {"vgg13", {{"num_classes", 1}}},
      {"resnet18", {{"num_classes", 1}}},
      {"cifar_resnet20", {{"num_classes", 1}}},
      {"amoebanetd", {{"num_classes", 1}, {"num_layers", 1}, {"num_filters", 1}}},
      {"roberta",
       {{"vocab_size", 1},
        {"hidden_size", 1},
        {"num_hidden_layers", 0},
        {"num_attention_heads", 1},
        {"intermediate_size", 1},
        {"max_position_embeddings", 1},
        {"type_vocab_size", 1},
        {"pad_token_id", 0},
        {"num_labels", 1}}},
      {"gpt2",
       {{"vocab_size", 1},
        {"n_positions", 1},
        {"max_position_embeddings", 1},
        {"n_embd", 1},
        {"n_layer", 0},
        {"n_head", 1},
        {"n_inner", 1}}},
      {"llama",
       {{"vocab_size", 1},
        {"hidden_size", 1},
        {"intermediate_size", 1},
        {"num_hidden_layers", 0},
        {"num_attention_heads", 1},
        {"num_key_value_heads", 1},
        {"head_dim", 1},
        {"max_position_embeddings", 1}}},
      {"vit_s_16",
       {{"image_size", 1},
        {"patch_size", 1},
        {"num_layers", 0},
        {"num_heads", 1},
        {"hidden_dim", 1},
        {"mlp_dim", 1},
        {"num_classes", 1},
        {"representation_size", 1}}},
      {"gpt3-xl",
       {{"vocab_size", 1},
        {"positions", 1},
        {"width", 1},
        {"layers", 0},
        {"heads", 1},
        {"num_classes", 1}}}};
  for (const auto& [model, numbers] : keys)
    for (const auto& [key, least] : numbers)
      for (const int64_t value : {least - 1, int64_t{-3}})
        EXPECT_EQ(ErrorOf([&] {
                    ParseModelSpec(model).build({{key, value}}, "config.json", {});
                  }),
                  fmt::format("[config.json] {} must be a whole number from {} to 2^28, got {}",
                              key, least, value))
            << model;
}

TEST(Config, RowsOfMobileNetAreWholeNumbers) {
  const auto error = [](const json& row) {
    return ErrorOf([&] {
      ParseModelSpec("mobilenet_v2")
          .build({{"inverted_residual_setting", {row}}}, "config.json", {});
    });
  };
  EXPECT_EQ(error({1, 16, -1, 1}),
            "[config.json] a row of inverted_residual_setting must be four whole numbers up to "
            "2^28, got [1,16,-1,1]");
  EXPECT_EQ(error({1, 16, 1, 0}),
            "[mobilenet_v2] an inverted residual setting needs expansion, channels and stride of "
            "at least 1 and repeats of at least 0, got 1, 16, 0 and 1");
}

TEST(Config, RobertaHasAPositionBehindThatOfPadding) {
  const auto error = [](const json& config) {
    return ErrorOf([&] { ParseModelSpec("roberta").build(config, "config.json", {}); });
  };
  for (const json& config :
       {json{{"max_position_embeddings", 2}}, json{{"vocab_size", 40}, {"pad_token_id", 40}}})
    EXPECT_NE(error(config).find("pad_token_id must be below vocab_size"), std::string::npos);
}

TEST(HuggingFace, Gpt2MayBeDescribedInTheNamesOfOtherModels) {
  const json names = {{"max_position_embeddings", 16},
                      {"hidden_size", 8},
                      {"num_hidden_layers", 2},
                      {"num_attention_heads", 2},
                      {"vocab_size", 30}};
  EXPECT_EQ(ConfigOf(Gpt2FromConfig(names, "config.json")), ConfigOf(SmallGpt2()));
  json both = names;
  both["n_head"] = 2;
  EXPECT_EQ(Gpt2FromConfig(both, "config.json").n_head, 2);
  both["n_head"] = 4;
  EXPECT_NE(ErrorOf([&] {
              Gpt2FromConfig(both, "config.json");
            }).find("n_head and num_attention_heads are one setting, got 4 and 2"),
            std::string::npos);
}

// As transformers 5 writes it, and as before.
TEST(HuggingFace, RotaryPositionsOfLlamaHaveTwoForms) {
  const json scaling = {{"rope_type", "llama3"},
                        {"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0},
                        {"original_max_position_embeddings", 8192}};
  json parameters = scaling;
  parameters["rope_theta"] = 500000.0;
  const json older = {{"rope_theta", 500000.0}, {"rope_scaling", scaling}},
             newer = {{"rope_parameters", parameters}};
  for (const json& config : {older, newer}) {
    const ops::RotaryFrequencies rope = LlamaFromConfig(config, "config.json").rope;
    EXPECT_EQ(rope.theta, 500000);
    EXPECT_EQ(rope.factor, 8);
    EXPECT_EQ(rope.original_positions, 8192);
    EXPECT_EQ(ToConfig(LlamaFromConfig(config, "config.json")).at("rope_scaling"), scaling);
  }
  const json linear = {{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}};
  EXPECT_EQ(LlamaFromConfig(linear, "config.json").rope.factor, 2);
  EXPECT_EQ(LlamaFromConfig({{"vocab_size", 9}, {"pad_token_id", -1}}, "config.json").pad_token_id,
            8);
}

TEST(HuggingFace, ErrorsOfRotaryPositionsSayWhereTheyAre) {
  const auto error = [](const json& config) {
    return ErrorOf([&] { LlamaFromConfig(config, "c.json"); });
  };
  EXPECT_EQ(error({{"rope_scaling", "linear"}}),
            "[c.json] rope_scaling must be an object, got \"linear\"");
  EXPECT_EQ(error({{"rope_scaling", {{"type", "linear"}}}}),
            "[c.json, rope_scaling] factor must be a number above 0, got null");
  EXPECT_EQ(error({{"rope_theta", -1}}), "[c.json] rope_theta must be a number above 0, got -1");
  EXPECT_EQ(error({{"rope_parameters", {{"rope_theta", 0}}}}),
            "[c.json, rope_parameters] rope_theta must be a number above 0, got 0");
  for (const char* key : {"rope_scaling", "rope_parameters"})
    EXPECT_EQ(error({{key, {{"rope_theta", 10000.0}, {"partial_rotary_factor", 0.5}}}}),
              std::string("[c.json, ") + key + "] partial_rotary_factor must be 1.0, got 0.5");
  EXPECT_EQ(
      LlamaFromConfig({{"rope_parameters", {{"partial_rotary_factor", 1}}}}, "c.json").rope.theta,
      10000);
}

TEST(HuggingFace, LayersAreNotTooMany) {
  for (const auto& [read, key] :
       {std::pair{+[](const json& c) { LlamaFromConfig(c, "c.json"); }, "num_hidden_layers"},
        std::pair{+[](const json& c) { RobertaFromConfig(c, "c.json"); }, "num_hidden_layers"},
        std::pair{+[](const json& c) { Gpt2FromConfig(c, "c.json"); }, "n_layer"}}) {
    read({{key, 1000}});
    EXPECT_EQ(ErrorOf([&] {
                read({{key, 1001}});
              }),
              std::string("[c.json] ") + key + " must be at most 1000, got 1001");
  }
}

// gpt2 as it was first published: saved without a head, with constants.
TEST(Names, FitThoseOfTheHub) {
  const auto saved = Gpt2(SmallGpt2()), loaded = Gpt2(SmallGpt2());
  saved->Initialize(1);
  std::vector<NamedTensor> state;
  for (const NamedTensor& tensor : StateDict(*saved))
    state.push_back({tensor.name.substr(std::string("transformer.").size()), tensor.value});
  state.push_back({"h.0.attn.bias", Zeros({1, 1, 16, 16})});
  std::vector<Renamed> renamed;
  LoadStateDict(*loaded, FitNames(*loaded, state, Gpt2Names(), &renamed), "file");
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
  EXPECT_EQ(renamed.size(), state.size());
  EXPECT_EQ(renamed.back().to, "");
}

TEST(StateDict, ATiedTensorMayComeUnderEitherName) {
  const auto saved = Gpt2(SmallGpt2()), loaded = Gpt2(SmallGpt2());
  saved->Initialize(1);
  std::vector<NamedTensor> state = StateDict(*saved);
  ASSERT_EQ(state[0].name, "transformer.wte.weight");
  state.push_back({"lm_head.weight", state[0].value.Clone()});
  LoadStateDict(*loaded, state, "file");
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
  state[0].value = Zeros(state[0].value.shape());
  EXPECT_NE(ErrorOf([&] {
              LoadStateDict(*loaded, state, "file");
            }).find("lm_head.weight differs from transformer.wte.weight, to which it is tied"),
            std::string::npos);
  state.erase(state.begin());  // under the head's name alone
  EXPECT_EQ(FitState(*loaded, state, "file")[0].name, "transformer.wte.weight");
  LoadStateDict(*loaded, state, "file");
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
}

}  // namespace
}  // namespace torus
