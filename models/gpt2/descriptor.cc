#include "models/gpt2/descriptor.h"

#include <nlohmann/json.hpp>

#include "models/folders.h"
#include "models/gpt2/config.h"

namespace torus {
namespace {

TransformersConfig ConfigRules() {
  return {
      .model_type = "gpt2",
      .complete = [](const nlohmann::json& config,
                     const std::string& where) { return ToConfig(Gpt2FromConfig(config, where)); },
      .may_differ = {"architectures", "attn_pdrop", "bias", "embd_pdrop", "initializer_range",
                     "n_inner", "resid_pdrop", "vocab_size"},
      .activation = "activation_function"};
}

std::shared_ptr<nn::Sequential> Build(const nlohmann::json& config, const std::string& where,
                                      const BuildOptions& options) {
  Gpt2Options o = Gpt2FromConfig(config, where);
  if (!options.dropout) o.resid_pdrop = o.embd_pdrop = o.attn_pdrop = 0;
  o.head_in_loss = options.head_in_loss;
  return Gpt2(o);
}

ModelSizes SizesOf(const Gpt2Options& o) { return {o.vocab_size, o.n_positions, o.vocab_size}; }

ModelDescriptor Describe(const std::string& name, const std::string& title,
                         const Gpt2Options& size) {
  return {.name = name,
          .title = title,
          .task = ModelTask::kNextToken,
          .takes_documents = true,
          .published = SizesOf(size),
          .tokenizer = "gpt2",
          .size_numbers = {LayersOfSize()},
          .size_title = " of {} layers",
          .names = Gpt2Names(),
          .transformers = ConfigRules(),
          .loss = nn::NextTokenLoss,
          .split_loss = nn::SplitNextTokenLoss,
          .config =
              [size](std::span<const double> sizes, int64_t outputs) {
                Gpt2Options o = size;
                o.vocab_size = outputs;
                if (!sizes.empty()) o.n_layer = static_cast<int64_t>(sizes[0]);
                return ToConfig(o);
              },
          .build = Build,
          .sizes = [](const nlohmann::json& config,
                      const std::string& where) { return SizesOf(Gpt2FromConfig(config, where)); },
          .training = UsualGptTraining()};
}

}  // namespace

NameRules Gpt2Names() {
  return {.base = "transformer.",
          .constants = {".attn.bias", ".attn.masked_bias"},
          .heads = {"lm_head.", "score.", "classifier."}};
}

// gpt2, gpt2-medium, gpt2-large, gpt2-xl and gpt-char; each takes its number of layers.
std::vector<ModelDescriptor> Gpt2Descriptors() {
  constexpr int64_t kCharactersOfShakespeare = 65;
  return {Describe("gpt2", "GPT-2", {}), Describe("gpt2-medium", "GPT-2 medium", Gpt2Medium()),
          Describe("gpt2-large", "GPT-2 large", Gpt2Large()),
          Describe("gpt2-xl", "GPT-2 XL", Gpt2Xl()),
          Describe("gpt-char", "character GPT", CharacterGpt(kCharactersOfShakespeare))};
}

}  // namespace torus
