#include "data/text/bpe_json.h"

#include <nlohmann/json.hpp>

#include "data/text/json_parts.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::data {
namespace {

using io::Member;
using Json = nlohmann::json;

bool IsUnset(const Json& value) {
  return value.is_null() || value == false || value == "" || value == 0;
}

void RequireUnset(const Json& json, const char* key, const std::string& path) {
  const Json& value = Member(json, key);
  Require(IsUnset(value), path, "requires a BPE that cuts texts as GPT-2's, got {}: {}", key,
          io::Brief(value));
}

NumberCut NumberCutOf(const Json& digits, const std::string& path) {
  const Json& singly = Member(digits, "individual_digits");
  Require(singly.is_boolean(), path, "requires true or false for individual_digits, got {}",
          io::Brief(singly));
  return singly == true ? NumberCut::kSingly : NumberCut::kRuns;
}

// Whether it cuts as Llama 3's expression does.
bool IsLlama3Split(const Json& part) {
  return Member(part, "type") == "Split" && Member(part, "behavior") == "Isolated" &&
         Member(part, "invert") != true &&
         Member(Member(part, "pattern"), "Regex") == kLlama3Expression;
}

// Reads a Sequence of Llama 3's expression and ByteLevel; false if it is something else.
bool ReadLlama3(const Json& before, BpeCut* cut) {
  const Json& list = Member(before, "pretokenizers");
  if (Member(before, "type") != "Sequence" || !list.is_array() || list.size() != 2 ||
      !IsLlama3Split(list[0]) || Member(list[1], "type") != "ByteLevel" ||
      Member(list[1], "use_regex") != false || Member(list[1], "add_prefix_space") == true)
    return false;
  cut->numbers = NumberCut::kInThrees;
  return true;
}

// Reads ByteLevel, or a Sequence of it, perhaps behind Digits.
void ReadPreTokenizer(const Json& before, const std::string& path, BpeCut* cut) {
  const Json& list = Member(before, "pretokenizers");
  const bool sequence = Member(before, "type") == "Sequence" && list.is_array();
  const bool digits = sequence && list.size() == 2 && Member(list[0], "type") == "Digits";
  const Json& last = !sequence ? before : list.size() == (digits ? 2 : 1) ? list.back() : Json();
  const Json& regex = Member(last, "use_regex");
  Require(Member(last, "type") == "ByteLevel", path,
          "requires a byte-level BPE with the pre_tokenizer ByteLevel, or a Sequence of Digits and "
          "ByteLevel or of Llama 3's Split and ByteLevel, got the pre_tokenizer {}",
          KindOf(before, "pretokenizers"));
  Require(regex.is_null() || regex == true, path,
          "requires a byte-level BPE that cuts texts as GPT-2's, got use_regex: {}",
          io::Brief(regex));
  if (digits) cut->numbers = NumberCutOf(list[0], path);
  if (!Member(last, "add_prefix_space").is_null())
    cut->prefix_space = FlagOf(last, "add_prefix_space", path);
}

bool IsEmptySequence(const Json& normalizer) {
  const Json& list = Member(normalizer, "normalizers");
  return Member(normalizer, "type") == "Sequence" && list.is_array() && list.empty();
}

BpeCut CutOf(const Json& json, const std::string& path) {
  const Json &model = Member(json, "model"), &type = Member(model, "type"),
             &before = Member(json, "pre_tokenizer"), &normalizer = Member(json, "normalizer"),
             &ignore = Member(model, "ignore_merges");
  Require(type.is_null() || type == "BPE", path, "requires a byte-level BPE, got the model {}",
          io::Brief(type));
  Require(normalizer.is_null() || IsEmptySequence(normalizer), path,
          "requires a BPE that takes texts as they are, got the normalizer {}",
          KindOf(normalizer, "normalizers"));
  for (const char* key :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"})
    RequireUnset(model, key, path);
  BpeCut cut{.ignore_merges = ignore == true};
  if (!cut.ignore_merges) RequireUnset(model, "ignore_merges", path);
  if (!before.is_null() && !ReadLlama3(before, &cut)) ReadPreTokenizer(before, path, &cut);
  return cut;
}

std::string MergeLine(const Json& merge, const std::string& path) {
  const bool pair =
      merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
  Require(pair || merge.is_string(), path, "requires merges of two strings, got {}",
          io::Brief(merge));
  const std::string line = pair ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                                : merge.get<std::string>();
  Require(line.find_first_of("\r\n") == line.npos, path,
          "requires merges of byte symbols, got a line's end in one");
  return line;
}

}  // namespace

BpeCut ParseBpeCut(std::string_view text, const std::string& path) {
  return CutOf(io::ParseJsonObject(text, path), path);
}

BpeJson ParseBpeJson(std::string_view text, const std::string& path) {
  const Json json = io::ParseJsonObject(text, path);
  BpeJson bpe{.cut = CutOf(json, path)};
  const Json &model = Member(json, "model"), &vocabulary = Member(model, "vocab"),
             &merges = Member(model, "merges");
  Require(vocabulary.is_object() && merges.is_array() && Member(json, "pre_tokenizer").is_object(),
          path, "requires a byte-level BPE: a model with vocab and merges behind ByteLevel");
  bpe.numbers = ParseTokenNumbers(vocabulary.dump(), path);
  for (const Json& merge : merges) bpe.merges += MergeLine(merge, path) + "\n";
  return bpe;
}

}  // namespace torus::data
