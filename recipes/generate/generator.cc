#include "recipes/generate/generator.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text/bpe_tokenizer.h"
#include "data/text/tokenizer_files.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/gpt2/config.h"
#include "models/gpt2/decoder.h"
#include "models/gpt2/descriptor.h"
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
  Context(std::shared_ptr<nn::Sequential> model, const Gpt2Options& options, int64_t positions)
      : device_(model->device()), positions_(positions), decoder_(std::move(model), options) {}

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
  Gpt2Decoder decoder_;
  int64_t first_ = 0;  // index in `ids` of the token at the decoder's position 0
};

// The token that ends a text, as it is written.
const char* EndText(const data::BpeTokenizer& bpe) {
  return bpe.name() == "roberta" ? "</s>" : "<|endoftext|>";
}

// The token that ends a text; -1 for a tokenizer without one.
int32_t EndOf(const data::Tokenizer& tokenizer) {
  const auto* const bpe = dynamic_cast<const data::BpeTokenizer*>(&tokenizer);
  return bpe == nullptr ? -1 : bpe->Special(EndText(*bpe));
}

std::vector<int32_t> PromptOf(const GenerateOptions& o, const data::Tokenizer& tokenizer) {
  const auto* const bpe = dynamic_cast<const data::BpeTokenizer*>(&tokenizer);
  Require(!o.prompt.empty() || bpe != nullptr, "generate",
          "--prompt must not be empty: the tokenizer {} has no token that a text begins behind",
          tokenizer.name());
  if (o.prompt.empty()) return {EndOf(tokenizer)};
  std::vector<int32_t> ids;
  if (o.special_tokens || bpe == nullptr)
    tokenizer.EncodeWithSpecials(o.prompt, &ids);
  else
    bpe->EncodeWith(o.prompt, {EndText(*bpe)}, &ids);
  return ids;
}

struct Opened {
  Gpt2Options options;
  std::shared_ptr<nn::Sequential> model;
  std::unique_ptr<data::Tokenizer> tokenizer;
  int64_t trained = 0;  // tokens of a row in training; 0: unknown
};

Opened OpenFolder(const std::string& folder, const std::string& vocab_dir) {
  const nlohmann::json config = ReadHuggingFaceConfig(folder);
  const Gpt2Options options = Gpt2FromConfig(config, folder);
  Opened opened{options, Gpt2(options),
                data::TokenizerOfFolder(vocab_dir.empty() ? folder : vocab_dir, "gpt2"),
                TrainedLength(config, folder)};
  LoadWeights(*opened.model, folder, Gpt2Names());
  const int64_t tokens = opened.tokenizer->vocabulary();
  Require(tokens <= options.vocab_size, folder, "the model knows {} tokens, the vocabulary has {}",
          options.vocab_size, tokens);
  return opened;
}

int64_t PositionsOf(const GenerateOptions& o, const Gpt2Options& options, int64_t trained) {
  Require(o.length <= options.n_positions, "generate",
          "--length must be at most the model's {} positions, got {}", options.n_positions,
          o.length);
  if (o.length > 0) return o.length;
  return trained > 0 ? std::min(trained, options.n_positions) : options.n_positions;
}

}  // namespace

std::string Generate(const GenerateOptions& o,
                     const std::function<void(const std::string&)>& on_text,
                     const std::function<void(const std::string&)>& on_warning) {
  Check(o.sampling);
  const Device device = CheckedDevice("generate", o.device);
  const WithPrecision precision(CheckedPrecision("generate", o.precision, o.emulate, device));
  Require(o.length >= 0, "generate", "--length must not be negative, got {}", o.length);
  const auto [options, model, tokenizer, trained] = io::OpenOneCommit(
      o.model, [&](const std::string& folder) { return OpenFolder(folder, o.vocab_dir); });
  std::vector<int32_t> ids = PromptOf(o, *tokenizer);
  const int64_t positions = PositionsOf(o, options, trained);
  if (const std::string line = BeyondTraining(o.length, trained); !line.empty() && on_warning)
    on_warning(line);
  if (on_text) on_text(o.prompt);
  model->MoveTo(device);
  Context context(model, options, positions);
  const RandomStream stream({.seed = o.seed, .layer = HashName("generate")});
  std::string text;
  for (int64_t i = 0; i < o.tokens && !o.stop_token.stop_requested(); ++i) {
    const Tensor logits = context.Next(ids).To(Device{}).To(DType::kF32);
    const std::span<const float> known(logits.data<float>(),
                                       static_cast<size_t>(tokenizer->vocabulary()));
    const auto token = static_cast<int32_t>(
        SampleToken(known, o.sampling, stream.Uniform64(static_cast<uint64_t>(i))));
    if (token == EndOf(*tokenizer)) break;
    ids.push_back(token);
    const std::string piece = tokenizer->Decode({&ids.back(), 1});
    text += piece;
    if (on_text) on_text(piece);
  }
  return text;
}

}  // namespace torus::recipes
