#include "models/roberta/config.h"

#include "models/checkpoint/config_reader.h"
#include "runtime/error.h"

namespace torus {
namespace {

using nlohmann::json;

void RefuseTheRest(const ConfigReader& reader) {
  reader.RequireOnly("model_type", "roberta");
  reader.RequireOnly("is_decoder", false);
  reader.RequireOnly("add_cross_attention", false);
  reader.RequireOnly("position_embedding_type", "absolute");
}

bool IsMaskedLm(const ConfigReader& reader) {
  const json architectures = reader.Raw("architectures");
  return architectures.is_array() && !architectures.empty() &&
         architectures[0] == "RobertaForMaskedLM";
}

}  // namespace

RobertaOptions RobertaFromConfig(const json& config, const std::string& where) {
  const ConfigReader reader(config, where);
  RefuseTheRest(reader);
  RobertaOptions o;
  reader.Read("vocab_size", o.vocab_size);
  reader.Read("hidden_size", o.hidden_size);
  reader.ReadLayers("num_hidden_layers", o.num_hidden_layers);
  reader.Read("num_attention_heads", o.num_attention_heads);
  reader.Read("intermediate_size", o.intermediate_size);
  reader.Read("hidden_act", o.hidden_act);
  reader.Read("hidden_dropout_prob", o.hidden_dropout_prob);
  reader.Read("attention_probs_dropout_prob", o.attention_probs_dropout_prob);
  reader.Read("classifier_dropout", o.classifier_dropout);
  reader.Read("max_position_embeddings", o.max_position_embeddings);
  reader.Read("type_vocab_size", o.type_vocab_size);
  reader.Read("initializer_range", o.initializer_range);
  reader.Read("layer_norm_eps", o.layer_norm_eps);
  reader.Read("pad_token_id", o.pad_token_id, /*least=*/0);
  if (const json labels = reader.Raw("id2label"); labels.is_object())
    o.num_labels = static_cast<int64_t>(labels.size());
  reader.Read("num_labels", o.num_labels);
  if (!IsMaskedLm(reader)) return o;
  o.head = RobertaHead::kMaskedLm;
  reader.RequireOnly("tie_word_embeddings", true);  // a classifier has nothing to tie
  return o;
}

json ToConfig(const RobertaOptions& o) {
  const bool lm = o.head == RobertaHead::kMaskedLm;
  json config = {
      {"model_type", "roberta"},
      {"architectures", {lm ? "RobertaForMaskedLM" : "RobertaForSequenceClassification"}},
      {"vocab_size", o.vocab_size},
      {"hidden_size", o.hidden_size},
      {"num_hidden_layers", o.num_hidden_layers},
      {"num_attention_heads", o.num_attention_heads},
      {"intermediate_size", o.intermediate_size},
      {"hidden_act", o.hidden_act},
      {"hidden_dropout_prob", o.hidden_dropout_prob},
      {"attention_probs_dropout_prob", o.attention_probs_dropout_prob},
      {"max_position_embeddings", o.max_position_embeddings},
      {"type_vocab_size", o.type_vocab_size},
      {"initializer_range", o.initializer_range},
      {"layer_norm_eps", o.layer_norm_eps},
      {"pad_token_id", o.pad_token_id},
  };
  if (o.classifier_dropout) config["classifier_dropout"] = *o.classifier_dropout;
  if (lm) return config;
  for (int64_t i = 0; i < o.num_labels; ++i) {
    config["id2label"][std::to_string(i)] = fmt::format("LABEL_{}", i);
    config["label2id"][fmt::format("LABEL_{}", i)] = i;
  }
  return config;
}

}  // namespace torus
