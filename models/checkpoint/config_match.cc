#include "models/checkpoint/config_match.h"

#include <nlohmann/json.hpp>
#include <set>

#include "models/gpt2/config.h"
#include "models/nn/activation.h"
#include "models/roberta/config.h"
#include "runtime/error.h"

namespace torus {
namespace {

using nlohmann::json;

// What has no effect on the body's function, and what names and shapes of weights show anyway.
bool MayDiffer(const std::string& key) {
  static const std::set<std::string> kKeys = {"architectures",
                                              "attention_probs_dropout_prob",
                                              "attn_pdrop",
                                              "bias",
                                              "classifier_dropout",
                                              "embd_pdrop",
                                              "hidden_dropout_prob",
                                              "id2label",
                                              "initializer_range",
                                              "label2id",
                                              "n_inner",
                                              "resid_pdrop",
                                              "vocab_size"};
  return kKeys.contains(key);
}

// With all that is absent filled in.
json Complete(const json& config, const json& ours, const std::string& where) {
  if (ours.at("model_type") == "gpt2") return ToConfig(Gpt2FromConfig(config, where));
  RobertaOptions options = RobertaFromConfig(config, where);
  options.num_labels = 0;  // not to write out any number of them
  return ToConfig(options);
}

// Activation functions have several names.
bool Same(const std::string& key, const json& a, const json& b, const std::string& where) {
  const bool activation = key == "activation_function" || key == "hidden_act";
  if (a == b || !activation) return a == b;
  return nn::ActivationByName(a, where) == nn::ActivationByName(b, where);
}

}  // namespace

void RequireSameFunction(const json& config, const json& ours, const std::string& where) {
  const json theirs = Complete(config, ours, where);
  std::string problems;
  for (const auto& [key, wanted] : ours.items()) {
    if (MayDiffer(key) || Same(key, theirs.at(key), wanted, where)) continue;
    problems += fmt::format("{}{} is {} and must be {}", problems.empty() ? "" : "; ", key,
                            theirs.at(key).dump(), wanted.dump());
  }
  Require(problems.empty(), where, "config.json describes another model: {}", problems);
}

}  // namespace torus
