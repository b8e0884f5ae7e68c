#include "models/roberta/roberta.h"

#include "models/roberta/embeddings.h"
#include "models/roberta/encoder_layer.h"
#include "models/roberta/heads.h"
#include "ops/indexing/indexing.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/view/view.h"
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

Variable MaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets) {
  constexpr int64_t kIgnored = -100;
  const std::vector<int64_t> all = ToVector<int64_t>(targets.To(DType::kI64));
  std::vector<int64_t> places, words;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == kIgnored) continue;
    places.push_back(static_cast<int64_t>(i));
    words.push_back(all[i]);
  }
  const auto count = static_cast<int64_t>(places.size());
  const Variable rows = ops::Reshape(outputs[0], {targets.numel(), outputs[0].dim(-1)});
  const Variable some = ops::IndexSelect(rows, 0, Variable(FromVector(places, {count})));
  const Variable target(FromVector(words, {count}));
  if (outputs.size() == 1) return ops::CrossEntropy(some, target);
  return ops::LinearCrossEntropy(some, outputs[1], outputs[2], target);
}

}  // namespace torus
