#include "models/checkpoint/config_reader.h"
#include "models/folders.h"
#include "models/gpt3/gpt3.h"

namespace torus {
namespace {

Gpt3Options FromConfig(const nlohmann::json& config, const std::string& where, Gpt3Head head) {
  const ConfigReader reader(config, where);
  reader.RequireKnown({"vocab_size", "positions", "width", "layers", "heads", "num_classes"});
  Gpt3Options o{.head = head};
  reader.Read("vocab_size", o.vocab_size);
  reader.Read("positions", o.positions);
  reader.Read("width", o.width);
  reader.Read("layers", o.layers, /*least=*/0);
  reader.Read("heads", o.heads);
  reader.Read("num_classes", o.num_classes);
  return o;
}

ModelSizes SizesOf(const Gpt3Options& o) {
  return {.outputs = o.head == Gpt3Head::kLm ? o.vocab_size : o.num_classes,
          .input = o.positions,
          .tokens = o.vocab_size};
}

ModelDescriptor Describe(const std::string& name, const std::string& title, Gpt3Head head) {
  const bool lm = head == Gpt3Head::kLm;
  return {.name = name,
          .title = title,
          .task = lm ? ModelTask::kNextToken : ModelTask::kSentences,
          .published = SizesOf({.head = head}),
          .tokenizer = "gpt2",
          .size_numbers = {LayersOfSize()},
          .size_title = " of {} layers",
          .loss = lm ? nn::NextTokenLoss : nn::ClassLoss,
          .split_loss = lm ? nn::SplitNextTokenLoss : nullptr,
          .config =
              [lm](std::span<const double> sizes, int64_t outputs) {
                nlohmann::json config = {{lm ? "vocab_size" : "num_classes", outputs}};
                if (!sizes.empty()) config["layers"] = static_cast<int64_t>(sizes[0]);
                return config;
              },
          .build =
              [head](const nlohmann::json& config, const std::string& where,
                     const BuildOptions& options) {
                Gpt3Options o = FromConfig(config, where, head);
                o.head_in_loss = options.head_in_loss && head == Gpt3Head::kLm;
                return Gpt3(o);
              },
          .sizes =
              [head](const nlohmann::json& config, const std::string& where) {
                return SizesOf(FromConfig(config, where, head));
              },
          .training = lm ? UsualGptTraining() : UsualFineTuning()};
}

}  // namespace

// gpt3-xl, which classifies sentences, and gpt3-xl-lm; each takes its number of layers.
// Configurations have the names of Gpt3Options: vocab_size, positions, width, layers, heads and
// num_classes.
std::vector<ModelDescriptor> Gpt3Descriptors() {
  return {Describe("gpt3-xl", "GPT-3 XL classifier", Gpt3Head::kClassification),
          Describe("gpt3-xl-lm", "GPT-3 XL", Gpt3Head::kLm)};
}

}  // namespace torus
