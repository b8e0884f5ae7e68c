#include "recipes/generate/generator.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "data/text/tokenizer_files.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/model_spec.h"
#include "models/nn/text_decoder.h"
#include "recipes/generate/stop_strings.h"
#include "recipes/model/trained_length.h"
#include "recipes/settings/device.h"
#include "recipes/settings/precision.h"
#include "runtime/error.h"
#include "runtime/io/one_commit.h"
#include "runtime/rng.h"

namespace torus::recipes {
namespace {

// One text on its way.
struct Text {
  std::vector<int32_t> ids;     // prompt and text, as the model sees them
  std::set<int32_t> seen = {};  // also of a prompt's beginning that the model does not see
  RandomStream stream;
  StopStrings text;
  int64_t added = 0;
  bool ended = false;
};

// How many of its positions a context keeps when they are used up.
int64_t HalfOf(int64_t positions) { return std::max<int64_t>(1, positions / 2); }

// Feeds the decoder the tokens of each text that it has not seen yet. When its positions are used
// up, it starts again with the newer half of the tokens, so that texts can be longer than the
// model's context.
class Context {
 public:
  Context(std::shared_ptr<nn::Sequential> model, int64_t positions, size_t texts)
      : device_(model->device()),
        positions_(positions),
        decoder_(std::move(model), positions, static_cast<int64_t>(texts)) {}

  // The logits (N, vocabulary) of the token after the first `total` of each text. A text that has
  // ended may have fewer; its row then means nothing.
  Tensor Next(const std::vector<Text>& texts, int64_t total) {
    if (total - first_ > positions_) {
      first_ = total - HalfOf(positions_);
      decoder_.Reset();
    }
    const int64_t begin = first_ + decoder_.length();
    std::vector<int64_t> news;
    for (const Text& text : texts)
      for (int64_t i = begin; i < total; ++i)
        news.push_back(i < std::ssize(text.ids) ? text.ids[static_cast<size_t>(i)] : 0);
    return decoder_.Extend(FromVector(news, {std::ssize(texts), total - begin}).To(device_));
  }

 private:
  const Device device_;
  const int64_t positions_;
  nn::TextDecoder decoder_;
  int64_t first_ = 0;  // index in Text::ids of the token at the decoder's position 0
};

std::vector<int32_t> PromptOf(const GenerateOptions& o, const std::string& prompt,
                              const data::Tokenizer& tokenizer) {
  const int32_t end = tokenizer.end_of_text();
  std::vector<int32_t> ids = tokenizer.beginning();
  Require(!prompt.empty() || !ids.empty() || end >= 0, "generate",
          "--prompt must not be empty, nor a line of --stdin: the tokenizer {} has no token that a "
          "text begins behind",
          tokenizer.name());
  if (prompt.empty() && ids.empty()) return {end};
  if (o.special_tokens || end < 0)
    tokenizer.EncodeWithSpecials(prompt, &ids);
  else
    tokenizer.EncodeWith(prompt, {tokenizer.Decode({&end, 1})}, &ids);
  return ids;
}

struct Folder {
  int64_t positions;  // of the model
  std::shared_ptr<nn::Sequential> model;
  std::unique_ptr<data::Tokenizer> tokenizer;
  int64_t trained = 0;  // tokens of a row in training; 0: unknown
};

Folder OpenFolder(const std::string& folder, const std::string& vocab_dir) {
  const nlohmann::json config = ReadHuggingFaceConfig(folder);
  const ModelDescriptor& model = DescriptorOfConfig(config, folder);
  Require(model.task == ModelTask::kNextToken, folder,
          "requires a model of next tokens, to generate with, got {}", model.title);
  const ModelSizes sizes = model.sizes(config, folder);
  Folder opened{sizes.input, model.build(config, folder, {}),
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

struct Generator::Opened {
  Folder folder;
  int64_t positions = 0;
  Device device;
  std::string warning = {};

  // Beyond the positions, only the end counts, as when a text grows beyond them (Context).
  Text Begin(const GenerateOptions& o, const std::string& prompt, int64_t number) const {
    Text text{.ids = PromptOf(o, prompt, *folder.tokenizer),
              .stream = RandomStream({.seed = o.seed,
                                      .layer = HashName("generate"),
                                      .sample = static_cast<uint64_t>(number)}),
              .text = StopStrings(o.stop),
              .ended = o.tokens == 0};
    text.seen = {text.ids.begin(), text.ids.end()};
    if (std::ssize(text.ids) > positions)
      text.ids.erase(text.ids.begin(), text.ids.end() - HalfOf(positions));
    return text;
  }

  // Adds the next token to a text. Returns what can be shown of it now.
  std::string Add(const GenerateOptions& o, std::span<const float> logits, Text& text) const {
    std::vector<float> known(logits.begin(), logits.begin() + folder.tokenizer->vocabulary());
    Penalize(text.seen, o.sampling.repetition_penalty, known);
    const auto token = static_cast<int32_t>(
        SampleToken(known, o.sampling, text.stream.Uniform64(static_cast<uint64_t>(text.added++))));
    text.ended = token == folder.tokenizer->end_of_text() || text.added == o.tokens;
    if (token == folder.tokenizer->end_of_text()) return "";
    text.ids.push_back(token);
    text.seen.insert(token);
    std::string shown = text.text.Add(folder.tokenizer->DecodeNext({&token, 1}));
    text.ended |= text.text.stopped();
    return shown;
  }
};

Generator::Generator(const GenerateOptions& options) : options_(options) {
  const GenerateOptions& o = options_;
  Check(o.sampling);
  StopStrings{o.stop};
  const Device device = CheckedDevice("generate", o.device);
  CheckedPrecision("generate", o.precision, o.emulate, device);
  Require(o.tokens >= 0, "generate", "--tokens must not be negative, got {}", o.tokens);
  Require(o.length >= 0, "generate", "--length must not be negative, got {}", o.length);
  opened_ = std::make_unique<Opened>(Opened{
      .folder = io::OpenOneCommit(
          o.model, [&](const std::string& folder) { return OpenFolder(folder, o.vocab_dir); }),
      .device = device});
  const Folder& folder = opened_->folder;
  opened_->positions = PositionsOf(o, folder.positions, folder.trained);
  opened_->warning = BeyondTraining(o.length, folder.trained);
  folder.model->MoveTo(device);
}

Generator::~Generator() = default;

const std::string& Generator::warning() const { return opened_->warning; }

std::vector<std::string> Generator::Continue(
    const std::vector<std::string>& prompts, int64_t first,
    const std::function<void(const std::string&)>& on_text) {
  const GenerateOptions& o = options_;
  const WithPrecision precision(
      CheckedPrecision("generate", o.precision, o.emulate, opened_->device));
  std::vector<Text> texts;
  for (const std::string& prompt : prompts)
    texts.push_back(opened_->Begin(o, prompt, first + std::ssize(texts)));
  if (texts.empty()) return {};
  Context context(opened_->folder.model, opened_->positions, texts.size());
  // All texts have as many tokens in the model as the shortest has; of the longer ones the next
  // tokens are known already.
  int64_t read = std::ssize(
      std::ranges::min_element(texts, {}, [](const Text& t) { return t.ids.size(); })->ids);
  while (!o.stop_token.stop_requested() && !std::ranges::all_of(texts, &Text::ended)) {
    const Tensor logits = context.Next(texts, read).To(Device{}).To(DType::kF32).Contiguous();
    for (size_t i = 0; i < texts.size(); ++i) {
      Text& text = texts[i];
      if (text.ended || std::ssize(text.ids) > read) continue;
      const auto width = static_cast<size_t>(logits.dim(1));
      const std::string shown = opened_->Add(o, {logits.data<float>() + i * width, width}, text);
      if (i == 0 && on_text && !shown.empty()) on_text(shown);
    }
    ++read;
  }
  const std::string held = texts.front().text.Finish();
  if (on_text && !held.empty()) on_text(held);
  std::vector<std::string> results;
  for (const Text& text : texts) results.push_back(text.text.text());
  return results;
}

std::string Generate(const GenerateOptions& o,
                     const std::function<void(const std::string&)>& on_text,
                     const std::function<void(const std::string&)>& on_warning) {
  Generator generator(o);
  if (!generator.warning().empty() && on_warning) on_warning(generator.warning());
  bool begun = false;
  const auto show = [&](const std::string& piece) {
    if (!begun) on_text(o.prompt);
    begun = true;
    on_text(piece);
  };
  const std::function<void(const std::string&)> none;
  const std::string text = generator.Continue({o.prompt}, 0, on_text ? show : none).front();
  if (on_text && !begun) on_text(o.prompt);
  return text;
}

}  // namespace torus::recipes
