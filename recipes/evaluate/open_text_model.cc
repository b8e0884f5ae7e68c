#include "recipes/evaluate/open_text_model.h"

#include <algorithm>
#include <filesystem>

#include "data/text/language_data.h"
#include "data/text/tokenizer_files.h"
#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "recipes/model/model_tokenizer.h"
#include "recipes/model/trained_length.h"
#include "runtime/error.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/folder_place.h"
#include "runtime/io/one_commit.h"

namespace torus::recipes {
namespace {

const std::vector<ModelDescriptor>& ModelsOf(const TextModelFlags& flags) {
  return flags.models == nullptr ? Models() : *flags.models;
}

// A folder names its model in config.json. A checkpoint of a model that transformers does not have
// has no such file.
bool SaysItsModel(const std::string& weights) {
  const std::string folder = io::CommittedFolder(weights);
  return !folder.empty() && (!io::CheckpointReader::IsOne(weights) ||
                             std::filesystem::exists(folder + "/config.json"));
}

// The one that --tokenizer names, of the vocabulary in --vocab-dir; without --tokenizer that of the
// files there, else in the folder.
std::unique_ptr<data::Tokenizer> TokenizerOf(const TextModelFlags& flags, const std::string& folder,
                                             const ModelDescriptor& model) {
  const std::string& place = flags.vocab_dir.empty() ? folder : flags.vocab_dir;
  const bool has = data::HasTokenizer(place);
  Require(!has || flags.tokenizer.empty() || !flags.vocab_dir.empty(), "evaluate",
          "--tokenizer {}: leave it out, {} has its own tokenizer", flags.tokenizer, place);
  Require(
      has || !flags.tokenizer.empty(), "evaluate",
      "{} has no tokenizer: needs vocab.json and merges.txt, or tokenizer.json (tokenizer.model is "
      "not read), there or in --vocab-dir; or --tokenizer",
      place);
  if (flags.tokenizer.empty()) return data::TokenizerOfFolder(place, model.tokenizer);
  return data::MakeTokenizer({.tokenizer = flags.tokenizer}, flags.vocab_dir);
}

TextModel OfFolder(const TextModelFlags& flags, const std::string& folder) {
  Require(flags.model.empty(), "evaluate",
          "--model {}: leave it out, the config.json of {} names it", flags.model, folder);
  const nlohmann::json config = ReadHuggingFaceConfig(folder);
  const ModelDescriptor& model = DescriptorOfConfig(config, folder, ModelsOf(flags));
  const ModelSizes sizes = model.sizes(config, folder);
  TextModel opened{.model = model.build(config, folder, {.head_in_loss = true}),
                   .tokenizer = TokenizerOf(flags, folder, model),
                   .task = model.task,
                   .longest = sizes.input,
                   .trained = TrainedLength(config, folder),
                   .config = config};
  const data::Tokenizer& tokenizer = *opened.tokenizer;
  Require(!model.requires_tokenizer || tokenizer.name() == model.tokenizer, folder,
          "the model reads the tokens of {}, got the tokenizer {}", model.tokenizer,
          tokenizer.name());
  Require(tokenizer.vocabulary() <= sizes.tokens, folder,
          "the model knows {} tokens, the vocabulary has {}", sizes.tokens, tokenizer.vocabulary());
  opened.taken = LoadWeights(*opened.model, {folder, flags.init_part}, model.names);
  return opened;
}

// A language model has one output per token, so weights that do not fit may belong to another
// tokenizer.
std::shared_ptr<nn::Sequential> LanguageModelOfFile(const ModelSpec& model,
                                                    const WeightsSource& weights,
                                                    const data::Tokenizer& tokenizer,
                                                    TakenWeights* taken) {
  try {
    return BuildModel(model, tokenizer.vocabulary(), 0, weights, nullptr, taken);
  } catch (const BadInput& error) {
    throw BadInput(fmt::format("{} (--tokenizer {} has {} tokens)", error.what(), tokenizer.name(),
                               tokenizer.vocabulary()));
  }
}

TextModel OfFile(const TextModelFlags& flags) {
  Require(!flags.model.empty(), "evaluate", "--init {} is a file of weights, so it needs --model",
          flags.init);
  const ModelSpec model = ParseModelSpec(flags.model, ModelsOf(flags));
  Require(model.task != ModelTask::kImages, "evaluate", "--model {} takes no texts", flags.model);
  const std::string name = TokenizerFor(model, flags.tokenizer, flags.vocab_dir);
  TextModel opened{.model = nullptr,
                   .tokenizer = data::MakeTokenizer({.tokenizer = name}, flags.vocab_dir),
                   .task = model.task,
                   .longest = model.published.input,
                   .trained = TrainedLength(nullptr, io::CommittedFolder(flags.init))};
  const data::Tokenizer& tokenizer = *opened.tokenizer;
  CheckTokenizer(model, tokenizer);
  const WeightsSource weights(flags.init, flags.init_part);
  opened.model = IsLanguageModel(model.task)
                     ? LanguageModelOfFile(model, weights, tokenizer, &opened.taken)
                     : BuildModel(model, flags.classes, 0, weights, nullptr, &opened.taken);
  return opened;
}

}  // namespace

int64_t TextModel::RowLength(int64_t given) const {
  if (given > 0) return given;
  return trained > 0 ? std::min(trained, longest) : longest;
}

TextModel OpenTextModel(const TextModelFlags& flags) {
  if (!SaysItsModel(flags.init)) return OfFile(flags);
  return io::OpenOneCommit(flags.init,
                           [&](const std::string& folder) { return OfFolder(flags, folder); });
}

}  // namespace torus::recipes
