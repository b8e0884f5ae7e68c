#include "recipes/generate/generator.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text/tokenizer_files.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/model_spec.h"
#include "models/nn/text_decoder.h"
#include "recipes/model/trained_length.h"
#include "recipes/settings/device.h"
#include "recipes/settings/precision.h"
#include "runtime/error.h"
#include "runtime/io/one_commit.h"
#include "runtime/rng.h"

namespace torus::recipes {
namespace {

// Feeds the decoder the tokens that it has not seen yet. When its positions are used up, it starts
// again with the newer half of the tokens, so that a text can be longer than the model's context.
class Context {
 public:
  Context(std::shared_ptr<nn::Sequential> model, int64_t positions)
      : device_(model->device()), positions_(positions), decoder_(std::move(model), positions) {}

  // The logits of the token after `ids`.
  Tensor Next(const std::vector<int32_t>& ids) {
    const auto total = static_cast<int64_t>(ids.size());
    if (total - first_ > positions_) {
      first_ = total - std::max<int64_t>(1, positions_ / 2);
      decoder_.Reset();
    }
    const int64_t begin = first_ + decoder_.length();
    std::vector<int64_t> news(ids.begin() + begin, ids.end());
    return decoder_.Extend(FromVector(news, {1, total - begin}).To(device_));
  }

 private:
  const Device device_;
  const int64_t positions_;
  nn::TextDecoder decoder_;
  int64_t first_ = 0;  // index in `ids` of the token at the decoder's position 0
};

std::vector<int32_t> PromptOf(const GenerateOptions& o, const data::Tokenizer& tokenizer) {
  const int32_t end = tokenizer.end_of_text();
  std::vector<int32_t> ids = tokenizer.beginning();
  Require(!o.prompt.empty() || !ids.empty() || end >= 0, "generate",
          "--prompt must not be empty: the tokenizer {} has no token that a text begins behind",
          tokenizer.name());
  if (o.prompt.empty() && ids.empty()) return {end};
  if (o.special_tokens || end < 0)
    tokenizer.EncodeWithSpecials(o.prompt, &ids);
  else
    tokenizer.EncodeWith(o.prompt, {tokenizer.Decode({&end, 1})}, &ids);
  return ids;
}

struct Opened {
  int64_t positions;  // of the model
  std::shared_ptr<nn::Sequential> model;
  std::unique_ptr<data::Tokenizer> tokenizer;
  int64_t trained = 0;  // tokens of a row in training; 0: unknown
};

Opened OpenFolder(const std::string& folder, const std::string& vocab_dir) {
  const nlohmann::json config = ReadHuggingFaceConfig(folder);
  const ModelDescriptor& model = DescriptorOfConfig(config, folder);
  Require(model.task == ModelTask::kNextToken, folder,
          "requires a model of next tokens, to generate with, got {}", model.title);
  const ModelSizes sizes = model.sizes(config, folder);
  Opened opened{sizes.input, model.build(config, folder, {}),
                data::TokenizerOfFolder(vocab_dir.empty() ? folder : vocab_dir, model.tokenizer),
                TrainedLength(config, folder)};
  LoadWeights(*opened.model, folder, model.names);
  const int64_t tokens = opened.tokenizer->vocabulary();
  Require(tokens <= sizes.tokens, folder, "the model knows {} tokens, the vocabulary has {}",
          sizes.tokens, tokens);
  return opened;
}

int64_t PositionsOf(const GenerateOptions& o, int64_t most, int64_t trained) {
  Require(o.length <= most, "generate", "--length must be at most the model's {} positions, got {}",
          most, o.length);
  if (o.length > 0) return o.length;
  return trained > 0 ? std::min(trained, most) : most;
}

}  // namespace

std::string Generate(const GenerateOptions& o,
                     const std::function<void(const std::string&)>& on_text,
                     const std::function<void(const std::string&)>& on_warning) {
  Check(o.sampling);
  const Device device = CheckedDevice("generate", o.device);
  const WithPrecision precision(CheckedPrecision("generate", o.precision, o.emulate, device));
  Require(o.length >= 0, "generate", "--length must not be negative, got {}", o.length);
  const auto [most, model, tokenizer, trained] = io::OpenOneCommit(
      o.model, [&](const std::string& folder) { return OpenFolder(folder, o.vocab_dir); });
  std::vector<int32_t> ids = PromptOf(o, *tokenizer);
  const int64_t positions = PositionsOf(o, most, trained);
  if (const std::string line = BeyondTraining(o.length, trained); !line.empty() && on_warning)
    on_warning(line);
  if (on_text) on_text(o.prompt);
  model->MoveTo(device);
  Context context(model, positions);
  const RandomStream stream({.seed = o.seed, .layer = HashName("generate")});
  std::string text;
  for (int64_t i = 0; i < o.tokens; ++i) {
    const Tensor logits = context.Next(ids).To(Device{}).To(DType::kF32);
    const std::span<const float> known(logits.data<float>(),
                                       static_cast<size_t>(tokenizer->vocabulary()));
    const auto token = static_cast<int32_t>(
        SampleToken(known, o.sampling, stream.Uniform64(static_cast<uint64_t>(i))));
    if (token == tokenizer->end_of_text()) break;
    ids.push_back(token);
    const std::string piece = tokenizer->DecodeNext({&ids.back(), 1});
    text += piece;
    if (on_text) on_text(piece);
  }
  return text;
}

}  // namespace torus::recipes
