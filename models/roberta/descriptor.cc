#include "models/roberta/descriptor.h"

#include <nlohmann/json.hpp>

#include "models/folders.h"
#include "models/roberta/config.h"

namespace torus {
namespace {

nlohmann::json Complete(const nlohmann::json& config, const std::string& where) {
  RobertaOptions options = RobertaFromConfig(config, where);
  options.num_labels = 0;  // so that ToConfig lists no labels
  return ToConfig(options);
}

TransformersConfig ConfigRules(const std::string& architecture) {
  return {.model_type = "roberta",
          .architecture = architecture,
          .complete = Complete,
          .may_differ = {"architectures", "attention_probs_dropout_prob", "classifier_dropout",
                         "hidden_dropout_prob", "id2label", "initializer_range", "label2id",
                         "vocab_size"},
          .activation = "hidden_act"};
}

std::shared_ptr<nn::Sequential> Build(const nlohmann::json& config, const std::string& where,
                                      const BuildOptions& options) {
  RobertaOptions o = RobertaFromConfig(config, where);
  if (!options.dropout) {
    o.hidden_dropout_prob = o.attention_probs_dropout_prob = 0;
    o.classifier_dropout = 0;
  }
  o.head_in_loss = options.head_in_loss;
  return Roberta(o);
}

ModelSizes SizesOf(const RobertaOptions& o) {
  const bool lm = o.head == RobertaHead::kMaskedLm;
  return {.outputs = lm ? o.vocab_size : o.num_labels,
          .input = o.max_position_embeddings - o.pad_token_id - 1,
          .tokens = o.vocab_size};
}

RobertaOptions Published(RobertaHead head) {
  RobertaOptions o = RobertaBase();
  o.head = head;
  return o;
}

ModelDescriptor Describe(const std::string& name, const std::string& title, RobertaHead head) {
  const bool lm = head == RobertaHead::kMaskedLm;
  return {
      .name = name,
      .title = title,
      .task = lm ? ModelTask::kMaskedToken : ModelTask::kSentences,
      .published = SizesOf(Published(head)),
      .tokenizer = "roberta",
      .requires_tokenizer = true,
      .size_numbers = {LayersOfSize()},
      .size_title = " of {} layers",
      .names = RobertaNames(),
      .transformers = ConfigRules(lm ? "RobertaForMaskedLM" : ""),
      .loss = lm ? nn::MaskedTokenLoss : nn::ClassLoss,
      .split_loss = lm ? nn::SplitMaskedTokenLoss : nullptr,
      .config =
          [=](std::span<const double> sizes, int64_t outputs) {
            RobertaOptions o = Published(head);
            (lm ? o.vocab_size : o.num_labels) = outputs;
            if (!sizes.empty()) o.num_hidden_layers = static_cast<int64_t>(sizes[0]);
            return ToConfig(o);
          },
      .build = Build,
      .sizes = [](const nlohmann::json& config,
                  const std::string& where) { return SizesOf(RobertaFromConfig(config, where)); },
      .training = UsualFineTuning()};
}

}  // namespace

NameRules RobertaNames() {
  return {.base = "roberta.",
          .constants = {"position_ids", "token_type_ids"},
          .heads = {"lm_head.", "classifier.", "roberta.pooler.", "pooler."}};
}

// roberta, which classifies sentences, and roberta-mlm; each takes its number of layers.
std::vector<ModelDescriptor> RobertaDescriptors() {
  return {Describe("roberta", "RoBERTa", RobertaHead::kClassification),
          Describe("roberta-mlm", "RoBERTa masked LM", RobertaHead::kMaskedLm)};
}

}  // namespace torus
