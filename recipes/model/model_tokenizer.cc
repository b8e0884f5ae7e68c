#include "recipes/model/model_tokenizer.h"

#include "data/text/language_data.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

std::string UsualTokenizer(const ModelDescriptor& model, const std::string& vocab_dir) {
  const bool without = vocab_dir.empty() && model.task == ModelTask::kNextToken;
  return without ? "bytes" : model.tokenizer;
}

void CheckName(const ModelDescriptor& model, const std::string& name) {
  Require(!model.requires_tokenizer || name == model.tokenizer, model.name,
          "reads {0}'s tokens: --tokenizer must be {0}, got {1}", model.tokenizer, name);
}

}  // namespace

std::string TokenizerFor(const ModelDescriptor& model, const std::string& given,
                         const std::string& vocab_dir) {
  const std::string name = given.empty() ? UsualTokenizer(model, vocab_dir) : given;
  CheckName(model, name);
  Require(!vocab_dir.empty() || !data::HasVocabulary(name), model.name,
          "--tokenizer {} needs --vocab-dir, the folder of its vocabulary", name);
  return name;
}

void CheckTokenizer(const ModelDescriptor& model, const data::Tokenizer& tokenizer) {
  CheckName(model, tokenizer.name());
  Require(IsLanguageModel(model.task) || tokenizer.vocabulary() <= model.published.tokens,
          model.name, "knows {} tokens, but --tokenizer {} has {}", model.published.tokens,
          tokenizer.name(), tokenizer.vocabulary());
}

}  // namespace torus::recipes
