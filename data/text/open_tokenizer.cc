#include "data/text/open_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/text/added_tokens.h"
#include "data/text/bpe_json.h"
#include "data/text/byte_symbols.h"
#include "data/text/character_bpe_json.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/io/one_commit.h"

namespace torus::data {
namespace {

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

bool HasOneOf(const std::string& dir, const std::vector<std::string>& names) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return Exists(dir + "/" + name); });
}

// The path of tokenizer.json if there are no merges files beside it, else empty.
std::string OnlyJson(const std::string& dir) {
  const std::string path = dir + "/tokenizer.json";
  return !HasOneOf(dir, kMerges) && Exists(path) ? path : "";
}

// The parts of a tokenizer, from whichever files they come.
struct Source {
  std::string path, merges_path;  // for messages
  BpeJson bpe;
  TokenizerSettings settings = {};
  bool prefix_space = false;
};

Source OfJson(const std::string& path) {
  return {.path = path,
          .merges_path = path + " model.merges",
          .bpe = ParseBpeJson(io::InputFile(path).ReadAll(), path)};
}

TokenNumbers ReadNumbers(const std::string& dir, const std::string& path) {
  if (!path.ends_with(".txt")) return ParseVocabularyJson(io::InputFile(path).ReadAll(), path);
  const std::string gpt2 = FirstOf(dir, {"encoder.json"});
  return ParseFairseqDictionary(io::InputFile(path).ReadAll(), path,
                                ParseVocabularyJson(io::InputFile(gpt2).ReadAll(), gpt2));
}

Source OfFiles(const std::string& dir, const std::vector<std::string>& vocabularies) {
  const bool others = HasOneOf(dir, vocabularies) || HasOneOf(dir, kMerges);
  Require(others || !Exists(dir + "/tokenizer.model"), dir,
          "requires tokenizer.json, got tokenizer.model alone, which is not read: transformers "
          "converts it by AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)");
  Source source{.path = FirstOf(dir, vocabularies)};
  source.bpe.numbers = ReadNumbers(dir, source.path);
  source.merges_path = FirstOf(dir, kMerges);
  source.bpe.merges = io::InputFile(source.merges_path).ReadAll();
  const std::string json = dir + "/tokenizer.json";
  if (Exists(json)) source.bpe.cut = ParseBpeCut(io::InputFile(json).ReadAll(), json);
  return source;
}

// Whether each text begins with a space. A class of a model asks the config alone, the class of any
// tokenizer.json that file.
bool PrefixSpaceOf(const TokenizerSettings& settings, const BpeCut& cut) {
  if (settings.HasClassOfAModel()) return settings.prefix_space.value_or(false);
  const bool config_first = settings.tokenizer_class.empty();
  const std::optional<bool>&first = config_first ? settings.prefix_space : cut.prefix_space,
        &second = config_first ? cut.prefix_space : settings.prefix_space;
  return first.value_or(second.value_or(false));
}

// The part of a tokenizer.json that cuts numbers, for messages.
const char* NameOf(NumberCut numbers) {
  return numbers == NumberCut::kInThrees ? "Llama 3's Split" : "Digits";
}

// What cuts texts otherwise than GPT-2's tokenizer does.
std::string OtherCuts(const BpeCut& cut) {
  if (cut.numbers == NumberCut::kAsWords) return "ignore_merges";
  return std::string(NameOf(cut.numbers)) + (cut.ignore_merges ? " and ignore_merges" : "");
}

Source Read(const std::string& dir, const std::vector<std::string>& vocabularies) {
  const std::string json = OnlyJson(dir);
  Source source = json.empty() ? OfFiles(dir, vocabularies) : OfJson(json);
  const TokenizerSettings& settings = source.settings = ReadTokenizerSettings(dir);
  const BpeCut& cut = source.bpe.cut;
  source.prefix_space = PrefixSpaceOf(settings, cut);
  Require(cut.IsGpt2() || !settings.HasClassOfAModel(), dir,
          "tokenizer.json asks for {}, which transformers 5 ignores for the tokenizer_class {}: "
          "requires PreTrainedTokenizerFast in tokenizer_config.json",
          OtherCuts(cut), settings.tokenizer_class);
  Require(cut.numbers == NumberCut::kAsWords || !source.prefix_space, dir,
          "requires no add_prefix_space beside {}, got both", NameOf(cut.numbers));
  return source;
}

Source ReadOneCommit(const std::string& dir, const std::vector<std::string>& vocabularies) {
  return io::OpenOneCommit(dir, [&](const std::string& at) { return Read(at, vocabularies); });
}

// The tokens of a vocabulary by their bytes: pieces that are one token whatever the merges make.
TokenNumbers WholePieces(const TokenNumbers& numbers) {
  TokenNumbers pieces;
  for (const auto& [text, number] : numbers)
    if (auto bytes = BytesOfSymbols(text); bytes.has_value())
      pieces.emplace(std::move(*bytes), number);
  return pieces;
}

// The tokens that are found in texts: those that somebody added, `required` ones, which must exist,
// and those that the settings name, where the vocabulary has them.
std::vector<SpecialToken> SpecialsOf(const TokenizerSettings& settings, const std::string& path,
                                     const TokenNumbers& numbers,
                                     const std::vector<SpecialToken>& required) {
  std::vector<SpecialToken> specials = settings.added;
  const auto add = [&](SpecialToken token) {
    const auto number = numbers.find(token.text);
    const auto known = std::ranges::find(specials, token.text, &SpecialToken::text);
    if (known != specials.end()) {
      known->special = true;
    } else if (number != numbers.end()) {
      token.number = number->second;
      specials.push_back(std::move(token));
    }
  };
  for (const SpecialToken& token : required) {
    Require(numbers.contains(token.text), path, "requires a number for the special token {}",
            token.text);
    add(token);
  }
  for (const SpecialToken& token : settings.named) add(token);
  return specials;
}

// The tokens around a text that stands alone.
struct Frame {
  std::vector<int32_t> beginning;
  int32_t end_of_text = -1;
};

int32_t NumberOf(const TokenNumbers& numbers, const std::string& token) {
  const auto found = numbers.find(token);
  return found == numbers.end() ? -1 : found->second;
}

// The special tokens in front of the text in the `single` of a TemplateProcessing. Throws BadInput
// naming `path` for one behind it.
std::vector<int32_t> BeginningOfTemplate(const nlohmann::json& single, const std::string& path,
                                         const TokenNumbers& numbers) {
  using io::Member;
  std::vector<int32_t> beginning;
  bool behind = false;
  for (const auto& piece : single) {
    const auto& id = Member(Member(piece, "SpecialToken"), "id");
    behind = behind || !id.is_string();
    if (!id.is_string()) continue;
    Require(!behind, path,
            "requires a tokenizer that puts no token behind a text, got the post_processor's {}",
            io::Brief(id));
    if (const int32_t number = NumberOf(numbers, id.get<std::string>()); number >= 0)
      beginning.push_back(number);
  }
  return beginning;
}

// The special tokens that a post_processor puts in front of a single text. Throws BadInput naming
// `path` for one that it puts behind the text.
std::vector<int32_t> BeginningOf(const nlohmann::json& post_processor, const std::string& path,
                                 const TokenNumbers& numbers) {
  using io::Member;
  const auto &type = Member(post_processor, "type"),
             &members = Member(post_processor, "processors");
  Require(type != "RobertaProcessing" && type != "BertProcessing", path,
          "requires a tokenizer that puts no token behind a text, got the post_processor {}",
          io::Brief(type));
  if (type == "TemplateProcessing")
    return BeginningOfTemplate(Member(post_processor, "single"), path, numbers);
  std::vector<int32_t> beginning;
  if (!members.is_array()) return beginning;
  for (const auto& member : members) {
    const std::vector<int32_t> of_member = BeginningOf(member, path, numbers);
    beginning.insert(beginning.begin(), of_member.begin(), of_member.end());
  }
  return beginning;
}

// `json` is the tokenizer.json at `path`, null if there is none.
Frame FrameOf(const nlohmann::json& json, const std::string& path,
              const TokenizerSettings& settings, const TokenNumbers& numbers) {
  Frame frame{BeginningOf(io::Member(json, "post_processor"), path, numbers),
              NumberOf(numbers, settings.eos)};
  const int32_t bos = NumberOf(numbers, settings.bos);
  if (settings.begins_with_bos && frame.beginning.empty() && bos >= 0) frame.beginning = {bos};
  return frame;
}

std::unique_ptr<BpeTokenizer> Assemble(const std::string& name, const Source& source,
                                       const std::vector<SpecialToken>& required,
                                       const Frame& frame) {
  const BpeCut& cut = source.bpe.cut;
  TokenNumbers numbers = source.bpe.numbers;
  AddNumbers(source.settings.added, source.path, &numbers);
  Merges merges(source.bpe.merges, source.merges_path);
  Vocabulary vocabulary(numbers, merges, source.path, source.settings.added);
  return std::make_unique<BpeTokenizer>(BpeTokenizer::Parts{
      .name = name,
      .merges = std::move(merges),
      .vocabulary = std::move(vocabulary),
      .specials = SpecialsOf(source.settings, source.path, numbers, required),
      .prefix_space = source.prefix_space,
      .numbers = cut.numbers,
      .whole_pieces = cut.ignore_merges ? WholePieces(source.bpe.numbers) : TokenNumbers(),
      .beginning = frame.beginning,
      .end_of_text = frame.end_of_text});
}

// The tokenizer `name`, GPT-2's or RoBERTa's: `end` is its token between texts, whatever the folder
// says. Throws BadInput for add_bos_token.
std::unique_ptr<BpeTokenizer> AssembleKnown(const std::string& name, const Source& source,
                                            const std::vector<SpecialToken>& required,
                                            const char* end) {
  Require(!source.settings.begins_with_bos, source.path,
          "{} requires the add_bos_token of tokenizer_config.json to be false, got true", name);
  return Assemble(name, source, required,
                  {.beginning = {}, .end_of_text = NumberOf(source.bpe.numbers, end)});
}

std::unique_ptr<CharacterBpe> OpenCharacters(const std::string& dir, const nlohmann::json& json,
                                             const std::string& path) {
  CharacterBpe::Parts parts = ParseCharacterBpe(json, path);
  const TokenizerSettings settings = ReadTokenizerSettings(dir);
  AddNumbers(settings.added, path, &parts.numbers);
  const Frame frame = FrameOf(json, path, settings, parts.numbers);
  parts.name = "json";
  parts.specials = SpecialsOf(settings, path, parts.numbers, {});
  parts.beginning = frame.beginning;
  parts.end_of_text = frame.end_of_text;
  return std::make_unique<CharacterBpe>(std::move(parts), path);
}

std::unique_ptr<Tokenizer> OpenJsonOfCommit(const std::string& dir) {
  const std::string path = dir + "/tokenizer.json";
  const nlohmann::json json =
      Exists(path) ? io::ParseJsonObject(io::InputFile(path).ReadAll(), path) : nlohmann::json();
  if (IsCharacterBpe(json)) return OpenCharacters(dir, json, path);
  const Source source = Read(dir, kGpt2);
  TokenNumbers numbers = source.bpe.numbers;
  AddNumbers(source.settings.added, source.path, &numbers);
  return Assemble("json", source, {}, FrameOf(json, path, source.settings, numbers));
}

}  // namespace

std::unique_ptr<BpeTokenizer> OpenGpt2(const std::string& dir) {
  return AssembleKnown("gpt2", ReadOneCommit(dir, kGpt2), {{"<|endoftext|>"}}, "<|endoftext|>");
}

std::unique_ptr<BpeTokenizer> OpenRoberta(const std::string& dir) {
  return AssembleKnown(
      "roberta", ReadOneCommit(dir, kRoberta),
      {{"<s>"}, {"<pad>"}, {"</s>"}, {"<unk>"}, {.text = "<mask>", .takes_left = true}}, "</s>");
}

std::unique_ptr<Tokenizer> OpenJson(const std::string& dir) {
  return io::OpenOneCommit(dir, OpenJsonOfCommit);
}

std::map<std::string, std::string> VocabularyFiles(const std::string& dir,
                                                   const std::string& name) {
  std::map<std::string, std::string> files;
  for (const char* beside :
       {"tokenizer.json", "added_tokens.json", "special_tokens_map.json", "tokenizer.model"})
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
