#include "models/gpt2/config.h"

#include "models/checkpoint/config_reader.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus {

using nlohmann::json;

namespace {

// transformers accepts a second name for some settings: the one of the two that is given.
std::string Given(const ConfigReader& reader, const char* key, const char* other) {
  const json first = reader.Raw(key), second = reader.Raw(other);
  Require(first.is_null() || second.is_null() || first == second, reader.where(),
          "{} and {} are one setting, got {} and {}", key, other, io::Brief(first),
          io::Brief(second));
  return first.is_null() ? other : key;
}

}  // namespace

Gpt2Options Gpt2FromConfig(const json& config, const std::string& where) {
  const ConfigReader reader(config, where);
  reader.RequireOnly("model_type", "gpt2");
  reader.RequireOnly("add_cross_attention", false);
  Gpt2Options o;
  reader.Read("vocab_size", o.vocab_size);
  reader.Read(Given(reader, "n_positions", "max_position_embeddings"), o.n_positions);
  reader.Read(Given(reader, "n_embd", "hidden_size"), o.n_embd);
  reader.ReadLayers(Given(reader, "n_layer", "num_hidden_layers"), o.n_layer);
  reader.Read(Given(reader, "n_head", "num_attention_heads"), o.n_head);
  reader.Read("n_inner", o.n_inner);
  reader.Read("activation_function", o.activation_function);
  reader.Read("resid_pdrop", o.resid_pdrop);
  reader.Read("embd_pdrop", o.embd_pdrop);
  reader.Read("attn_pdrop", o.attn_pdrop);
  reader.Read("layer_norm_epsilon", o.layer_norm_epsilon);
  reader.Read("initializer_range", o.initializer_range);
  reader.Read("scale_attn_weights", o.scale_attn_weights);
  reader.Read("scale_attn_by_inverse_layer_idx", o.scale_attn_by_inverse_layer_idx);
  reader.Read("tie_word_embeddings", o.tie_word_embeddings);
  reader.Read("bias", o.bias);
  return o;
}

json ToConfig(const Gpt2Options& o) {
  json config = {
      {"model_type", "gpt2"},
      {"architectures", {"GPT2LMHeadModel"}},
      {"vocab_size", o.vocab_size},
      {"n_positions", o.n_positions},
      {"n_embd", o.n_embd},
      {"n_layer", o.n_layer},
      {"n_head", o.n_head},
      {"activation_function", o.activation_function},
      {"resid_pdrop", o.resid_pdrop},
      {"embd_pdrop", o.embd_pdrop},
      {"attn_pdrop", o.attn_pdrop},
      {"layer_norm_epsilon", o.layer_norm_epsilon},
      {"initializer_range", o.initializer_range},
      {"scale_attn_weights", o.scale_attn_weights},
      {"scale_attn_by_inverse_layer_idx", o.scale_attn_by_inverse_layer_idx},
      {"tie_word_embeddings", o.tie_word_embeddings},
  };
  if (o.n_inner) config["n_inner"] = *o.n_inner;
  if (!o.bias) config["bias"] = false;
  return config;
}

}  // namespace torus
