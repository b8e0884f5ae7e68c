#include <nlohmann/json.hpp>

#include "models/folders.h"
#include "models/llama/config.h"

namespace torus {
namespace {

TransformersConfig ConfigRules() {
  return {
      .model_type = "llama",
      .complete = [](const nlohmann::json& config,
                     const std::string& where) { return ToConfig(LlamaFromConfig(config, where)); },
      .may_differ = {"architectures", "attention_bias", "attention_dropout", "initializer_range",
                     "intermediate_size", "max_position_embeddings", "mlp_bias", "pad_token_id",
                     "tie_word_embeddings", "vocab_size"},
      .activation = "hidden_act"};
}

std::shared_ptr<nn::Sequential> Build(const nlohmann::json& config, const std::string& where,
                                      const BuildOptions& options) {
  LlamaOptions o = LlamaFromConfig(config, where);
  if (!options.dropout) o.attention_dropout = 0;
  o.head_in_loss = options.head_in_loss;
  return Llama(o);
}

ModelSizes SizesOf(const LlamaOptions& o) {
  return {o.vocab_size, o.max_position_embeddings, o.vocab_size};
}

// LAYERS,WIDTH,HEADS,KEYHEADS
LlamaOptions OfSize(LlamaOptions o, std::span<const double> sizes) {
  if (sizes.empty()) return o;
  const auto size = [&](size_t i) { return static_cast<int64_t>(sizes[i]); };
  o.num_hidden_layers = size(0);
  o.hidden_size = size(1);
  o.num_attention_heads = size(2);
  o.num_key_value_heads = size(3);
  o.intermediate_size = LlamaIntermediateSize(o.hidden_size);
  return o;
}

ModelDescriptor Describe(const std::string& name, const std::string& title,
                         const LlamaOptions& published) {
  return {.name = name,
          .title = title,
          .task = ModelTask::kNextToken,
          .takes_documents = true,
          .published = SizesOf(published),
          .tokenizer = "json",
          .size_numbers = {LayersOfSize(),
                           {"WIDTH", "width", 1 << 20},
                           {"HEADS", "number of heads", 1 << 20},
                           {"KEYHEADS", "number of heads of keys", 1 << 20}},
          .size_title = " of {} layers of width {} with {} heads, of keys {}",
          .names = {.base = "model.",
                    .constants = {".self_attn.rotary_emb.inv_freq"},
                    .heads = {"lm_head.", "score."}},
          .transformers = ConfigRules(),
          .loss = nn::NextTokenLoss,
          .split_loss = nn::SplitNextTokenLoss,
          .config =
              [published](std::span<const double> sizes, int64_t outputs) {
                LlamaOptions o = OfSize(published, sizes);
                o.vocab_size = outputs;
                return ToConfig(o);
              },
          .build = Build,
          .sizes = [](const nlohmann::json& config,
                      const std::string& where) { return SizesOf(LlamaFromConfig(config, where)); },
          .training = UsualGptTraining()};
}

}  // namespace

// llama (Llama 2) and llama3 (Llama 3.1), each as the smallest published; both take other sizes.
std::vector<ModelDescriptor> LlamaDescriptors() {
  return {Describe("llama", "Llama 2", Llama2()), Describe("llama3", "Llama 3.1", Llama31())};
}

}  // namespace torus
