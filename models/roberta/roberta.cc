#include "models/roberta/roberta.h"

#include "models/roberta/embeddings.h"
#include "models/roberta/encoder_layer.h"
#include "models/roberta/heads.h"
#include "runtime/error.h"

namespace torus {
namespace {

void CheckOptions(const RobertaOptions& o) {
  Require(o.num_attention_heads >= 1 && o.hidden_size >= 1 &&
              o.hidden_size % o.num_attention_heads == 0,
          "roberta", "num_attention_heads must divide hidden_size, got {} and {}",
          o.num_attention_heads, o.hidden_size);
  Require(o.num_hidden_layers >= 0, "roberta", "num_hidden_layers must be at least 0, got {}",
          o.num_hidden_layers);
  Require(o.pad_token_id < o.vocab_size && o.pad_token_id + 1 < o.max_position_embeddings,
          "roberta",
          "pad_token_id must be below vocab_size and below max_position_embeddings - 1, got {}, {} "
          "and {}",
          o.pad_token_id, o.vocab_size, o.max_position_embeddings);
  Require(o.num_labels >= 1, "roberta", "num_labels must be at least 1, got {}", o.num_labels);
}

}  // namespace

RobertaOptions RobertaBase() {
  return {.max_position_embeddings = 514, .type_vocab_size = 1, .layer_norm_eps = 1e-5};
}

std::shared_ptr<nn::Sequential> Roberta(const RobertaOptions& o) {
  CheckOptions(o);
  auto model = std::make_shared<nn::Sequential>();
  uint64_t dropout = 0;
  auto embeddings = std::make_shared<RobertaEmbeddings>(o, dropout++);
  model->Add("roberta.embeddings", embeddings);
  for (int64_t i = 0; i < o.num_hidden_layers; ++i, dropout += RobertaLayer::kDropoutLayers) {
    const bool first_only = o.head == RobertaHead::kClassification && i + 1 == o.num_hidden_layers;
    const auto output = first_only ? RobertaLayer::Output::kFirstToken : RobertaLayer::Output::kAll;
    model->Add(fmt::format("roberta.encoder.layer.{}", i),
               std::make_shared<RobertaLayer>(o, dropout, output));
  }
  if (o.head == RobertaHead::kClassification)
    model->Add("classifier", std::make_shared<RobertaClassificationHead>(o, dropout));
  else
    model->Add("lm_head", std::make_shared<RobertaLmHead>(o, embeddings->words()));
  return model;
}

}  // namespace torus
