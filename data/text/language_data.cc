#include "data/text/language_data.h"

#include <algorithm>
#include <filesystem>

#include "data/files/mapped_file.h"
#include "data/text/byte_tokenizer.h"
#include "data/text/char_tokenizer.h"
#include "data/text/document_characters.h"
#include "data/text/open_tokenizer.h"
#include "runtime/error.h"
#include "runtime/io/one_commit.h"

namespace torus::data {
namespace {

bool IsTokenFile(const std::string& path) {
  const MappedFile file(path);
  return file.bytes().size() >= kTokenFileMagic.size() &&
         std::ranges::equal(file.bytes().first(kTokenFileMagic.size()), kTokenFileMagic);
}

// The documents' tokens, with the one that ends a text between them if the tokenizer has it.
std::unique_ptr<Tokens> Tokenized(const Tokenizer& tokenizer, const Documents::Texts& documents,
                                  std::string name) {
  const int32_t end = tokenizer.end_of_text();
  std::vector<int32_t> ids;
  try {
    for (const std::string_view document : documents) {
      if (!ids.empty() && end >= 0) ids.push_back(end);
      tokenizer.Encode(document, &ids);
    }
  } catch (const BadInput& error) {
    Throw<BadInput>(name, "{}", error.what());
  }
  return std::make_unique<TokenVector>(std::move(name), tokenizer.vocabulary(), std::move(ids));
}

LanguageData OpenTextFile(const std::string& path, const std::string& name,
                          const std::string& vocabulary_dir) {
  Require(!IsTokenFile(path), path,
          "requires a text file or a folder of token files, got a token file");
  const Documents documents(path);
  LanguageData data;
  if (name == "chars") {
    data.tokenizer =
        std::make_unique<CharTokenizer>(CharTokenizer::Of(CharactersOf(documents, path), path));
  } else {
    data.tokenizer = MakeTokenizer({.tokenizer = name}, vocabulary_dir);
  }
  const auto [train, validation] = documents.Split(data.tokenizer->words());
  data.train = Tokenized(*data.tokenizer, train, path + " (train)");
  data.validation = Tokenized(*data.tokenizer, validation, path + " (validation)");
  return data;
}

Documents::Texts PartOf(const Documents& documents, const std::string& part,
                        const Tokenizer& tokenizer) {
  if (part == "all") return documents.all();
  const auto [train, validation] = documents.Split(tokenizer.words());
  return part == "train" ? train : validation;
}

template <class File>
std::unique_ptr<Tokens> OfTokenizer(std::unique_ptr<File> file, const Tokenizer& tokenizer) {
  Require(file->origin() == OriginOf(tokenizer), file->name(),
          "requires tokens of {} with {} tokens, got others: of {} with {}", tokenizer.name(),
          tokenizer.vocabulary(), file->origin().tokenizer, file->origin().vocabulary);
  return file;
}

LanguageData OpenFolder(const std::string& path, const std::string& name,
                        const std::string& vocabulary_dir) {
  auto [train, validation] = io::OpenOneCommit(path, [](const std::string& folder) {
    auto first = std::make_unique<TokenShards>(folder, "train");
    return std::pair(std::move(first), std::make_unique<TokenShards>(folder, "validation"));
  });
  const TokenOrigin& origin = train->origin();
  Require(validation->origin() == origin, validation->name(),
          "requires the tokenizer of the training files, {}, got {}", origin.tokenizer,
          validation->origin().tokenizer);
  Require(name.empty() || name == origin.tokenizer, path, "requires tokens of {}, got those of {}",
          name, origin.tokenizer);
  LanguageData data{.tokenizer = MakeTokenizer(origin, vocabulary_dir)};
  data.train = std::move(train);
  data.validation = std::move(validation);
  return data;
}

}  // namespace

std::vector<std::string> TokenizerNames() { return {"gpt2", "roberta", "json", "bytes", "chars"}; }

bool HasVocabulary(const std::string& tokenizer) {
  return tokenizer == "gpt2" || tokenizer == "roberta" || tokenizer == "json";
}

std::unique_ptr<Tokenizer> MakeTokenizer(const TokenOrigin& origin,
                                         const std::string& vocabulary_dir) {
  const std::string& name = origin.tokenizer;
  std::unique_ptr<Tokenizer> tokenizer;
  if (name == "bytes") tokenizer = std::make_unique<ByteTokenizer>();
  if (name == "chars") tokenizer = std::make_unique<CharTokenizer>(origin.alphabet);
  if (HasVocabulary(name)) {
    Require(!vocabulary_dir.empty(), name,
            "requires the folder of its vocabulary (--vocab-dir), got none");
    if (name == "gpt2") tokenizer = OpenGpt2(vocabulary_dir);
    if (name == "roberta") tokenizer = OpenRoberta(vocabulary_dir);
    if (name == "json") tokenizer = OpenJson(vocabulary_dir);
  }
  if (tokenizer == nullptr)
    Throw<BadInput>("text", "requires a tokenizer (--tokenizer) of {}, got '{}'",
                    fmt::join(TokenizerNames(), ", "), name);
  Require(origin.vocabulary == 0 || origin.vocabulary == tokenizer->vocabulary(), name,
          "requires a vocabulary of {} tokens, got {}", origin.vocabulary, tokenizer->vocabulary());
  return tokenizer;
}

std::unique_ptr<Tokens> OpenTokens(const std::string& path, const std::string& part,
                                   const Tokenizer& tokenizer) {
  Require(part == "train" || part == "validation" || part == "all", path,
          "requires the part train, validation or all, got {}", part);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    Require(part != "all", path, "a folder of token files has the parts train and validation");
    return OfTokenizer(io::OpenOneCommit(path,
                                         [&](const std::string& folder) {
                                           return std::make_unique<TokenShards>(folder, part);
                                         }),
                       tokenizer);
  }
  if (!IsTokenFile(path))
    return Tokenized(tokenizer, PartOf(Documents(path), part, tokenizer),
                     fmt::format("{} ({})", path, part));
  Require(part == "all", path, "a token file is read as a whole, got the part {}", part);
  return OfTokenizer(std::make_unique<TokenFile>(path), tokenizer);
}

LanguageData OpenLanguageData(const std::string& path, const std::string& tokenizer,
                              const std::string& vocabulary_dir) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? OpenFolder(path, tokenizer, vocabulary_dir)
                                                    : OpenTextFile(path, tokenizer, vocabulary_dir);
}

}  // namespace torus::data
