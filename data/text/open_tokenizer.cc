#include "data/text/open_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "data/files/file.h"
#include "data/text/added_tokens.h"
#include "data/text/bpe_json.h"
#include "runtime/error.h"
#include "runtime/io/one_commit.h"

namespace torus::data {
namespace {

// The text of a file.
std::string ReadText(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  return std::string(bytes.begin(), bytes.end());
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The first of the names that `dir` has.
std::string FirstOf(const std::string& dir, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (Exists(dir + "/" + name)) return dir + "/" + name;
  }
  Throw<BadInput>(dir, "requires one of the files {}, got none", fmt::join(names, ", "));
}

const std::vector<std::string> kMerges = {"vocab.bpe", "merges.txt"},
                               kGpt2 = {"encoder.json", "vocab.json"},
                               kRoberta = {"roberta_vocab.json", "vocab.json", "dict.txt"};

// The path of tokenizer.json if there are no merges files beside it, else empty.
std::string OnlyJson(const std::string& dir) {
  const std::string path = dir + "/tokenizer.json";
  const bool merges = std::ranges::any_of(
      kMerges, [&](const std::string& name) { return Exists(dir + "/" + name); });
  return !merges && Exists(path) ? path : "";
}

// The parts of a tokenizer, from whichever files they come.
struct Source {
  std::string path, merges_path;  // for messages
  BpeJson bpe;
  bool prefix_space = false;
};

Source OfJson(const std::string& path) {
  return {.path = path,
          .merges_path = path + " model.merges",
          .bpe = ParseBpeJson(ReadText(path), path)};
}

TokenNumbers ReadNumbers(const std::string& dir, const std::string& path) {
  if (!path.ends_with(".txt")) return ParseVocabularyJson(ReadText(path), path);
  const std::string gpt2 = FirstOf(dir, {"encoder.json"});
  return ParseFairseqDictionary(ReadText(path), path, ParseVocabularyJson(ReadText(gpt2), gpt2));
}

Source OfFiles(const std::string& dir, const std::vector<std::string>& vocabularies) {
  Source source{.path = FirstOf(dir, vocabularies)};
  source.bpe.numbers = ReadNumbers(dir, source.path);
  source.merges_path = FirstOf(dir, kMerges);
  source.bpe.merges = ReadText(source.merges_path);
  const std::string json = dir + "/tokenizer.json";
  if (Exists(json)) CheckBpeJson(ReadText(json), json);
  return source;
}

Source Read(const std::string& dir, const std::vector<std::string>& vocabularies) {
  const std::string json = OnlyJson(dir);
  Source source = json.empty() ? OfFiles(dir, vocabularies) : OfJson(json);
  TokenizerSettings settings = ReadTokenizerSettings(dir);
  AddNumbers(settings.added, dir, &source.bpe.numbers);
  source.bpe.added = std::move(settings.added);
  source.prefix_space = settings.prefix_space.value_or(false);
  return source;
}

Source ReadOneCommit(const std::string& dir, const std::vector<std::string>& vocabularies) {
  return io::OpenOneCommit(dir, [&](const std::string& at) { return Read(at, vocabularies); });
}

struct Special {
  const char* text;
  bool takes_left = false;
};

// Every token in `specials` must exist. added_tokens may change how each is found in a text.
std::unique_ptr<BpeTokenizer> Assemble(const std::string& name, Source source,
                                       const std::vector<Special>& specials) {
  Merges merges(source.bpe.merges, source.merges_path);
  Vocabulary vocabulary(source.bpe.numbers, merges, source.path);
  BpeTokenizer::Parts parts{name, std::move(merges), std::move(vocabulary),
                            std::move(source.bpe.added), source.prefix_space};
  for (const Special& special : specials) {
    const auto number = parts.vocabulary.NumberOfOther(special.text);
    Require(number.has_value(), source.path, "requires a number for the special token {}",
            special.text);
    const auto found = std::ranges::find(parts.specials, special.text, &SpecialToken::text);
    if (found == parts.specials.end())
      parts.specials.push_back({special.text, *number, special.takes_left});
    else
      found->special = true;
  }
  return std::make_unique<BpeTokenizer>(std::move(parts));
}

}  // namespace

std::unique_ptr<BpeTokenizer> OpenGpt2(const std::string& dir) {
  return Assemble("gpt2", ReadOneCommit(dir, kGpt2), {{"<|endoftext|>"}});
}

std::unique_ptr<BpeTokenizer> OpenRoberta(const std::string& dir) {
  return Assemble("roberta", ReadOneCommit(dir, kRoberta),
                  {{"<s>"}, {"<pad>"}, {"</s>"}, {"<unk>"}, {"<mask>", true}});
}

std::map<std::string, std::string> VocabularyFiles(const std::string& dir,
                                                   const std::string& name) {
  std::map<std::string, std::string> files;
  for (const char* beside : {"tokenizer.json", "added_tokens.json", "special_tokens_map.json"})
    if (Exists(dir + "/" + beside)) files[dir + "/" + beside] = beside;
  if (!OnlyJson(dir).empty()) return files;
  files[FirstOf(dir, kMerges)] = "merges.txt";
  const std::string numbers = FirstOf(dir, name == "roberta" ? kRoberta : kGpt2);
  const bool fairseq = numbers.ends_with(".txt");
  files[numbers] = fairseq ? "dict.txt" : "vocab.json";
  if (fairseq) files[FirstOf(dir, {"encoder.json"})] = "encoder.json";
  return files;
}

}  // namespace torus::data
