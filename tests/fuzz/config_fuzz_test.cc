// Configurations of models.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/gpt2/config.h"
#include "models/llama/config.h"
#include "models/model_spec.h"
#include "models/roberta/config.h"
#include "runtime/io/json.h"
#include "tests/fuzz/fuzz.h"

namespace torus::fuzz {
namespace {

// From the bytes of config.json to the model, but for the memory of its weights.
void FuzzConfig(const std::string& name, const nlohmann::json& config) {
  const Bytes seed = BytesOf(config.dump(1));
  RunFuzz({.name = name, .seeds = {seed, seed}, .read = [](const Bytes& bytes) {
             const nlohmann::json read =
                 io::ParseJsonObject(std::string(bytes.begin(), bytes.end()), "config.json");
             DescriptorOfConfig(read, "config.json").build(read, "config.json", {});
           }});
}

TEST(Fuzz, Gpt2Config) {
  FuzzConfig("gpt2 config",
             ToConfig(Gpt2Options{
                 .vocab_size = 11, .n_positions = 4, .n_embd = 8, .n_layer = 1, .n_head = 2}));
}

TEST(Fuzz, LlamaConfig) {
  FuzzConfig("llama config",
             ToConfig(LlamaOptions{.vocab_size = 11,
                                   .hidden_size = 8,
                                   .intermediate_size = 12,
                                   .num_hidden_layers = 1,
                                   .num_attention_heads = 2,
                                   .num_key_value_heads = 1,
                                   .rope = {.factor = 8, .original_positions = 16}}));
}

TEST(Fuzz, RobertaConfig) {
  FuzzConfig("roberta config", ToConfig(RobertaOptions{.vocab_size = 11,
                                                       .hidden_size = 8,
                                                       .num_hidden_layers = 1,
                                                       .num_attention_heads = 2,
                                                       .intermediate_size = 16,
                                                       .max_position_embeddings = 6}));
}

}  // namespace
}  // namespace torus::fuzz
