#include "models/checkpoint/config_match.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/gpt2/config.h"
#include "models/model_spec.h"
#include "models/roberta/config.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using nlohmann::json;

std::string ErrorOf(const json& config, const json& ours) {
  return testing::ErrorOf([&] {
    const TransformersConfig rules = DescriptorOfConfig(ours, "ours").transformers;
    RequireSameFunction(rules.complete(config, "folder"), ours, rules.may_differ, rules.activation,
                        "folder");
  });
}

json With(json config, const json& changes) {
  config.update(changes);
  return config;
}

// As they were published.
const json kGpt2 = {{"activation_function", "gelu_new"},
                    {"architectures", {"GPT2LMHeadModel"}},
                    {"layer_norm_epsilon", 1e-05},
                    {"model_type", "gpt2"},
                    {"n_ctx", 1024},
                    {"n_embd", 768},
                    {"n_head", 12},
                    {"n_layer", 12},
                    {"n_positions", 1024},
                    {"vocab_size", 50257}};
const json kRoberta = {{"architectures", {"RobertaForMaskedLM"}},
                       {"hidden_act", "gelu"},
                       {"hidden_size", 768},
                       {"intermediate_size", 3072},
                       {"layer_norm_eps", 1e-05},
                       {"max_position_embeddings", 514},
                       {"model_type", "roberta"},
                       {"num_attention_heads", 12},
                       {"num_hidden_layers", 12},
                       {"pad_token_id", 1},
                       {"type_vocab_size", 1},
                       {"vocab_size", 50265}};

TEST(RequireSameFunction, TakesWhatWasPublished) {
  EXPECT_EQ(ErrorOf(kGpt2, ToConfig(Gpt2Options{})), "no error");
  EXPECT_EQ(ErrorOf(kRoberta, ToConfig(RobertaBase())), "no error");
}

TEST(RequireSameFunction, LeavesHeadLabelsDropoutAndWordsAlone) {
  EXPECT_EQ(ErrorOf(With(kGpt2, {{"attn_pdrop", 0},
                                 {"embd_pdrop", 0},
                                 {"resid_pdrop", 0.5},
                                 {"initializer_range", 0.1},
                                 {"n_inner", 3072},
                                 {"vocab_size", 65},
                                 {"activation_function", "gelu_pytorch_tanh"}}),
                    ToConfig(Gpt2Options{})),
            "no error");
  EXPECT_EQ(ErrorOf(With(kRoberta, {{"architectures", {"RobertaForSequenceClassification"}},
                                    {"attention_probs_dropout_prob", 0},
                                    {"hidden_dropout_prob", 0},
                                    {"classifier_dropout", 0.3},
                                    {"num_labels", 1 << 28},
                                    {"vocab_size", 7}}),
                    ToConfig(RobertaBase())),
            "no error");
}

TEST(RequireSameFunction, ListsEverySettingOfGpt2) {
  const json other = With(kGpt2, {{"num_attention_heads", nullptr},
                                  {"n_head", 16},
                                  {"activation_function", "relu"},
                                  {"layer_norm_epsilon", 1e-6},
                                  {"scale_attn_weights", false},
                                  {"scale_attn_by_inverse_layer_idx", true},
                                  {"tie_word_embeddings", false}});
  EXPECT_EQ(ErrorOf(other, ToConfig(Gpt2Options{})),
            "[folder] config.json describes another model: "
            "activation_function is \"relu\" and must be \"gelu_new\"; "
            "layer_norm_epsilon is 1e-06 and must be 1e-05; n_head is 16 and must be 12; "
            "scale_attn_by_inverse_layer_idx is true and must be false; "
            "scale_attn_weights is false and must be true; "
            "tie_word_embeddings is false and must be true");
}

TEST(RequireSameFunction, ListsEverySettingOfRoberta) {
  json other =
      With(kRoberta, {{"num_attention_heads", 8}, {"hidden_act", "gelu_new"}, {"pad_token_id", 0}});
  other.erase("layer_norm_eps");  // which then is transformers' own
  EXPECT_EQ(ErrorOf(other, ToConfig(RobertaBase())),
            "[folder] config.json describes another model: "
            "hidden_act is \"gelu_new\" and must be \"gelu\"; "
            "layer_norm_eps is 1e-12 and must be 1e-05; "
            "num_attention_heads is 8 and must be 12; pad_token_id is 0 and must be 1");
}

// Only the masked head has a weight that is tied to the embedding.
TEST(RobertaFromConfig, AClassifierMaySayThatNothingIsTied) {
  const json untied = With(kRoberta, {{"tie_word_embeddings", false}});
  EXPECT_NE(testing::ErrorOf([&] {
              RobertaFromConfig(untied, "folder");
            }).find("tie_word_embeddings must be true, got false"),
            std::string::npos);
  const json classifier = With(untied, {{"architectures", {"RobertaForSequenceClassification"}}});
  EXPECT_EQ(testing::ErrorOf([&] { RobertaFromConfig(classifier, "folder"); }), "no error");
}

TEST(RequireSameFunction, IsOfOneKindOfModel) {
  EXPECT_NE(ErrorOf(kRoberta, ToConfig(Gpt2Options{})).find("model_type must be \"gpt2\""),
            std::string::npos);
  EXPECT_NE(ErrorOf(With(kGpt2, {{"activation_function", "mish"}}), ToConfig(Gpt2Options{}))
                .find("no activation function mish; known: gelu, "),
            std::string::npos);
}

TEST(RequireSameFunction, ShowsTheTextOfAFileInOneShortLine) {
  for (const std::string& name : {std::string("gelu\new"), std::string(5000, 'x')}) {
    const std::string error =
        ErrorOf(With(kGpt2, {{"activation_function", name}}), ToConfig(Gpt2Options{}));
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_LT(error.size(), 500) << error;
  }
  const std::string error = ErrorOf(With(kGpt2, {{"tie_word_embeddings", std::string(5000, 'x')}}),
                                    ToConfig(Gpt2Options{}));
  EXPECT_LT(error.size(), 500) << error;
}

}  // namespace
}  // namespace torus
