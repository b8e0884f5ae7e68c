#include "recipes/evaluate/open_text_model.h"

#include <filesystem>

#include "data/text/language_data.h"
#include "data/text/tokenizer_files.h"
#include "models/checkpoint/config_reader.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/gpt2/config.h"
#include "models/roberta/config.h"
#include "recipes/model/model_spec.h"
#include "recipes/model/model_tokenizer.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

std::unique_ptr<data::Tokenizer> FolderTokenizer(const TextModelFlags& flags,
                                                 const std::string& bpe) {
  return data::TokenizerOfFolder(flags.vocab_dir.empty() ? flags.init : flags.vocab_dir, bpe);
}

// What CheckTokenizer is for a model by name.
void CheckVocabulary(const TextModelFlags& flags, const TextModel& opened, int64_t known) {
  Require(opened.tokenizer->vocabulary() <= known, flags.init,
          "the model knows {} tokens, the vocabulary has {}", known,
          opened.tokenizer->vocabulary());
}

TextModel Gpt2Model(const TextModelFlags& flags, const nlohmann::json& config) {
  Gpt2Options options = Gpt2FromConfig(config, flags.init);
  options.head_in_loss = true;
  TextModel opened{.model = Gpt2(options),
                   .tokenizer = FolderTokenizer(flags, "gpt2"),
                   .language_model = true,
                   .longest = options.n_positions};
  CheckVocabulary(flags, opened, options.vocab_size);
  return opened;
}

TextModel RobertaModel(const TextModelFlags& flags, const nlohmann::json& config) {
  RobertaOptions options = RobertaFromConfig(config, flags.init);
  const bool masked = options.head == RobertaHead::kMaskedLm;
  options.head_in_loss = masked;
  TextModel opened{.model = Roberta(options),
                   .tokenizer = FolderTokenizer(flags, "roberta"),
                   .language_model = masked,
                   .masked = masked,
                   .longest = options.max_position_embeddings - options.pad_token_id - 1};
  Require(opened.tokenizer->name() == "roberta", flags.init,
          "the model reads RoBERTa's tokens, got the tokenizer {}", opened.tokenizer->name());
  CheckVocabulary(flags, opened, options.vocab_size);
  return opened;
}

TextModel OfFolder(const TextModelFlags& flags) {
  Require(flags.model.empty(), "evaluate", "--model {}: the config.json of {} says what it is",
          flags.model, flags.init);
  Require(flags.tokenizer.empty(), "evaluate", "--tokenizer {}: {} says what its texts are cut by",
          flags.tokenizer, flags.init);
  const nlohmann::json config = ReadHuggingFaceConfig(flags.init);
  std::string type;
  ConfigReader(config, flags.init).Read("model_type", type);
  TextModel opened = type == "gpt2" ? Gpt2Model(flags, config) : RobertaModel(flags, config);
  LoadWeights(*opened.model, flags.init);
  return opened;
}

// A language model has as many outputs as there are tokens: weights that do not fit may be of
// another tokenizer.
std::shared_ptr<nn::Sequential> LanguageModelOfFile(const TextModelFlags& flags,
                                                    const data::Tokenizer& tokenizer) {
  try {
    return BuildModel(flags.model, tokenizer.vocabulary(), 0, flags.init);
  } catch (const BadInput& error) {
    throw BadInput(fmt::format("{} (--tokenizer {} has {} tokens)", error.what(), tokenizer.name(),
                               tokenizer.vocabulary()));
  }
}

TextModel OfFile(const TextModelFlags& flags) {
  Require(!flags.model.empty(), "evaluate", "--init {} is a file of weights, so it needs --model",
          flags.init);
  const ModelSpec spec = ParseModelSpec(flags.model);
  Require(spec.input == ModelInput::kTokens, "evaluate", "--model {} takes no texts", flags.model);
  const std::string name = TokenizerFor(spec, flags.tokenizer, flags.vocab_dir);
  TextModel opened{.model = nullptr,
                   .tokenizer = data::MakeTokenizer({.tokenizer = name}, flags.vocab_dir),
                   .language_model = spec.language_model,
                   .masked = spec.masked,
                   .longest = spec.published.size};
  const data::Tokenizer& tokenizer = *opened.tokenizer;
  CheckTokenizer(spec, tokenizer);
  opened.model = spec.language_model ? LanguageModelOfFile(flags, tokenizer)
                                     : BuildModel(flags.model, flags.classes, 0, flags.init);
  return opened;
}

}  // namespace

TextModel OpenTextModel(const TextModelFlags& flags) {
  return std::filesystem::is_directory(flags.init) ? OfFolder(flags) : OfFile(flags);
}

}  // namespace torus::recipes
