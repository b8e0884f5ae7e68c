#include "recipes/model/model_tokenizer.h"

#include "runtime/error.h"

namespace torus::recipes {
namespace {

std::string UsualTokenizer(const ModelSpec& model, const std::string& vocab_dir) {
  const bool without = vocab_dir.empty() && model.language_model && !model.masked;
  return without ? "bytes" : model.tokenizer;
}

void CheckName(const ModelSpec& model, const std::string& name) {
  Require(model.tokenizer != "roberta" || name == "roberta", model.name,
          "reads RoBERTa's tokens: --tokenizer must be roberta, got {}", name);
}

}  // namespace

std::string TokenizerFor(const ModelSpec& model, const std::string& given,
                         const std::string& vocab_dir) {
  const std::string name = given.empty() ? UsualTokenizer(model, vocab_dir) : given;
  CheckName(model, name);
  Require(!vocab_dir.empty() || (name != "gpt2" && name != "roberta"), model.name,
          "--tokenizer {} needs --vocab-dir, the folder of its vocabulary", name);
  return name;
}

void CheckTokenizer(const ModelSpec& model, const data::Tokenizer& tokenizer) {
  CheckName(model, tokenizer.name());
  Require(model.language_model || tokenizer.vocabulary() <= model.published.tokens, model.name,
          "knows {} tokens, but --tokenizer {} has {}", model.published.tokens, tokenizer.name(),
          tokenizer.vocabulary());
}

}  // namespace torus::recipes
