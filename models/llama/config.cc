#include "models/llama/config.h"

#include "models/checkpoint/config_reader.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus {

using nlohmann::json;

namespace {

// `value`: where the key is absent.
double ReadPositive(const ConfigReader& reader, const std::string& key,
                    std::optional<double> value = {}) {
  reader.Read(key, value);
  Require(value && *value > 0, reader.where(), "{} must be a number above 0, got {}", key,
          io::Brief(reader.Raw(key)));
  return *value;
}

std::string RopeType(const ConfigReader& scaling) {
  std::string type = "default";
  scaling.Read("type", type);
  scaling.Read("rope_type", type);
  Require(type == "default" || type == "linear" || type == "llama3", scaling.where(),
          "rope_type must be default, linear or llama3, got {}", io::Printable(type));
  return type;
}

// Of scaling, by its type. `positions`: of the model, where scaling does not say how many there
// were before it.
void ReadScaling(const ConfigReader& scaling, int64_t positions, ops::RotaryFrequencies& rope) {
  const std::string type = RopeType(scaling);
  if (type == "default") return;
  rope.factor = ReadPositive(scaling, "factor");
  if (type == "linear") return;
  rope.low_turns = ReadPositive(scaling, "low_freq_factor");
  rope.high_turns = ReadPositive(scaling, "high_freq_factor");
  Require(rope.high_turns > rope.low_turns, scaling.where(),
          "high_freq_factor must be above low_freq_factor, got {} and {}", rope.high_turns,
          rope.low_turns);
  scaling.Read("original_max_position_embeddings", positions);
  rope.original_positions = static_cast<double>(positions);
}

ops::RotaryFrequencies ReadRope(const ConfigReader& reader, int64_t positions) {
  const char* key = "rope_scaling";
  json given = reader.Raw(key);
  if (given.is_null() || given.empty()) given = reader.Raw(key = "rope_parameters");
  if (given.is_null()) given = json::object();
  Require(given.is_object(), reader.where(), "{} must be an object, got {}", key, io::Brief(given));
  const ConfigReader scaling(given, fmt::format("{}, {}", reader.where(), key));
  scaling.RequireOnly("partial_rotary_factor", 1.0);
  ops::RotaryFrequencies rope;
  rope.theta = ReadPositive(reader, "rope_theta", rope.theta);
  rope.theta = ReadPositive(scaling, "rope_theta", rope.theta);
  ReadScaling(scaling, positions, rope);
  return rope;
}

json ScalingOf(const ops::RotaryFrequencies& rope) {
  if (rope.original_positions > 0)
    return {{"rope_type", "llama3"},
            {"factor", rope.factor},
            {"low_freq_factor", rope.low_turns},
            {"high_freq_factor", rope.high_turns},
            {"original_max_position_embeddings", static_cast<int64_t>(rope.original_positions)}};
  if (rope.factor != 1) return {{"rope_type", "linear"}, {"factor", rope.factor}};
  return nullptr;
}

// As torch.nn.Embedding: a negative one counts from the end.
void ReadPadding(const ConfigReader& reader, LlamaOptions& o) {
  reader.Read("pad_token_id", o.pad_token_id, /*least=*/-o.vocab_size);
  if (o.pad_token_id && *o.pad_token_id < 0) *o.pad_token_id += o.vocab_size;
  Require(!o.pad_token_id || *o.pad_token_id < o.vocab_size, reader.where(),
          "pad_token_id must be below vocab_size {}, got {}", o.vocab_size,
          o.pad_token_id.value_or(0));
}

}  // namespace

LlamaOptions LlamaFromConfig(const json& config, const std::string& where) {
  const ConfigReader reader(config, where);
  reader.RequireOnly("model_type", "llama");
  reader.RequireOnly("partial_rotary_factor", 1.0);
  LlamaOptions o;
  reader.Read("vocab_size", o.vocab_size);
  reader.Read("hidden_size", o.hidden_size);
  reader.Read("intermediate_size", o.intermediate_size);
  reader.ReadLayers("num_hidden_layers", o.num_hidden_layers);
  reader.Read("num_attention_heads", o.num_attention_heads);
  reader.Read("num_key_value_heads", o.num_key_value_heads);
  reader.Read("head_dim", o.head_dim);
  reader.Read("hidden_act", o.hidden_act);
  reader.Read("max_position_embeddings", o.max_position_embeddings);
  reader.Read("initializer_range", o.initializer_range);
  reader.Read("rms_norm_eps", o.rms_norm_eps);
  ReadPadding(reader, o);
  reader.Read("tie_word_embeddings", o.tie_word_embeddings);
  o.rope = ReadRope(reader, o.max_position_embeddings);
  reader.Read("attention_bias", o.attention_bias);
  reader.Read("mlp_bias", o.mlp_bias);
  reader.Read("attention_dropout", o.attention_dropout);
  return o;
}

json ToConfig(const LlamaOptions& o) {
  json config = {
      {"model_type", "llama"},
      {"architectures", {"LlamaForCausalLM"}},
      {"vocab_size", o.vocab_size},
      {"hidden_size", o.hidden_size},
      {"intermediate_size", o.intermediate_size},
      {"num_hidden_layers", o.num_hidden_layers},
      {"num_attention_heads", o.num_attention_heads},
      {"num_key_value_heads", o.key_value_heads()},
      {"head_dim", o.width_of_head()},
      {"hidden_act", o.hidden_act},
      {"max_position_embeddings", o.max_position_embeddings},
      {"initializer_range", o.initializer_range},
      {"rms_norm_eps", o.rms_norm_eps},
      {"pad_token_id", nullptr},
      // Where absent transformers takes 1 and 2; these options do not know the tokenizer.
      {"bos_token_id", nullptr},
      {"eos_token_id", nullptr},
      {"tie_word_embeddings", o.tie_word_embeddings},
      {"rope_theta", o.rope.theta},
      {"rope_scaling", ScalingOf(o.rope)},
      {"attention_bias", o.attention_bias},
      {"mlp_bias", o.mlp_bias},
      {"attention_dropout", o.attention_dropout},
  };
  if (o.pad_token_id) config["pad_token_id"] = *o.pad_token_id;
  return config;
}

}  // namespace torus
