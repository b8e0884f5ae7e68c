#include "data/text/token_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "data/text/char_tokenizer.h"
#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr uint32_t kVersion = 1;
constexpr size_t kAlignment = 64;
constexpr int64_t kMostVocabulary = int64_t{1} << 31;

struct Header {
  char magic[8];
  uint32_t version, width;
  uint64_t tokens, vocabulary;
  uint32_t name_length, alphabet_length;
};
static_assert(sizeof(Header) == 40);

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

uint32_t WidthOf(int64_t vocabulary) {
  return vocabulary <= 1 << 8 ? 1 : vocabulary <= 1 << 16 ? 2 : 4;
}

// Writes the tokens as elements of `T`, in parts.
template <class T>
void WriteAs(std::span<const int32_t> ids, io::OutputFile* file) {
  std::vector<T> part;
  constexpr size_t kPart = size_t{1} << 16;
  for (size_t at = 0; at < ids.size(); at += kPart) {
    const auto some = ids.subspan(at, std::min(kPart, ids.size() - at));
    part.assign(some.begin(), some.end());
    file->Write(part.data(), part.size() * sizeof(T));
  }
}

// Widens tokens. Returns the index of the first one outside of the vocabulary, or -1.
template <class T>
int64_t Widen(const uint8_t* from, int64_t count, int64_t vocabulary, int64_t* out) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    if (value >= vocabulary) return i;
    out[i] = value;
  }
  return -1;
}

// The number of files of `part` in `dir`. Throws BadInput for a gap in their numbers.
int CountShards(const std::string& dir, const std::string& part) {
  std::vector<int> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator at(dir, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    int number = -1;
    if (name.size() > part.size() + 1)
      std::from_chars(name.data() + part.size() + 1, name.data() + name.size(), number);
    if (number >= 0 && TokenShardPath(dir, part, number) == dir + "/" + name)
      numbers.push_back(number);
  }
  if (error) Throw<BadInput>(dir, "cannot be listed: {}", error.message());
  std::ranges::sort(numbers);
  const int count = static_cast<int>(numbers.size());
  for (int i = 0; i < count; ++i) {
    if (numbers[i] != i)
      Throw<BadInput>(dir, "requires {} before {}, got none", TokenShardPath(dir, part, i),
                      TokenShardPath(dir, part, numbers[i]));
  }
  return count;
}

}  // namespace

TokenOrigin OriginOf(const Tokenizer& tokenizer) {
  const auto* const chars = dynamic_cast<const CharTokenizer*>(&tokenizer);
  return {tokenizer.name(), chars == nullptr ? "" : chars->alphabet(), tokenizer.vocabulary()};
}

void WriteTokenFile(const std::string& path, const TokenOrigin& origin,
                    std::span<const int32_t> ids) {
  Require(origin.vocabulary >= 1 && origin.vocabulary <= kMostVocabulary, path,
          "requires a vocabulary of 1 to {}, got {}", kMostVocabulary, origin.vocabulary);
  for (const int32_t id : ids) {
    Require(id >= 0 && id < origin.vocabulary, path, "requires tokens of 0 to {}, got {}",
            origin.vocabulary - 1, id);
  }
  Header header{.version = kVersion,
                .width = WidthOf(origin.vocabulary),
                .tokens = ids.size(),
                .vocabulary = static_cast<uint64_t>(origin.vocabulary),
                .name_length = static_cast<uint32_t>(origin.tokenizer.size()),
                .alphabet_length = static_cast<uint32_t>(origin.alphabet.size())};
  kTokenFileMagic.copy(header.magic, sizeof(header.magic));
  const std::string names = origin.tokenizer + origin.alphabet;
  const size_t used = sizeof(header) + names.size();
  io::OutputFile file(path);
  file.Write(&header, sizeof(header));
  file.Write(names);
  file.Write(std::string(Aligned(used) - used, '\0'));
  if (header.width == 1) WriteAs<uint8_t>(ids, &file);
  if (header.width == 2) WriteAs<uint16_t>(ids, &file);
  if (header.width == 4) WriteAs<uint32_t>(ids, &file);
  file.Close(true);
}

TokenFile::TokenFile(const std::string& path) : file_(path) {
  const std::span<const uint8_t> bytes = file_.bytes();
  Header header;
  Require(bytes.size() >= sizeof(header), path,
          "requires a token file of at least {} bytes, got {}", sizeof(header), bytes.size());
  std::memcpy(&header, bytes.data(), sizeof(header));
  Require(std::string_view(header.magic, sizeof(header.magic)) == kTokenFileMagic, path,
          "requires a token file, which begins with {}", kTokenFileMagic);
  Require(header.version == kVersion, path, "requires version {} of the format, got {}", kVersion,
          header.version);
  Require(header.vocabulary >= 1 && header.vocabulary <= uint64_t{kMostVocabulary}, path,
          "requires a vocabulary of 1 to {}, got {}", kMostVocabulary, header.vocabulary);
  origin_.vocabulary = static_cast<int64_t>(header.vocabulary);
  width_ = header.width;
  Require(width_ == WidthOf(origin_.vocabulary), path,
          "requires {} bytes a token of a vocabulary of {}, got {}", WidthOf(origin_.vocabulary),
          header.vocabulary, width_);
  data_ = Aligned(sizeof(header) + header.name_length + header.alphabet_length);
  Require(data_ <= bytes.size() && (bytes.size() - data_) % width_ == 0 &&
              (bytes.size() - data_) / width_ == header.tokens,
          path, "requires {} tokens of {} bytes from offset {}, got a file of {} bytes",
          header.tokens, width_, data_, bytes.size());
  const auto* const names = reinterpret_cast<const char*>(bytes.data()) + sizeof(header);
  origin_.tokenizer.assign(names, header.name_length);
  origin_.alphabet.assign(names + header.name_length, header.alphabet_length);
  size_ = static_cast<int64_t>(header.tokens);
}

void TokenFile::Copy(int64_t begin, int64_t count, int64_t* out) const {
  CheckTokenRange(*this, begin, count);
  const uint8_t* const from = file_.bytes().data() + data_ + begin * width_;
  const int64_t bad = width_ == 1   ? Widen<uint8_t>(from, count, vocabulary(), out)
                      : width_ == 2 ? Widen<uint16_t>(from, count, vocabulary(), out)
                                    : Widen<uint32_t>(from, count, vocabulary(), out);
  Require(bad < 0, name(), "requires tokens of 0 to {}, got another at token {}", vocabulary() - 1,
          begin + bad);
}

std::string TokenShardPath(const std::string& dir, const std::string& part, int number) {
  return fmt::format("{}/{}-{:05}.tokens", dir, part, number);
}

TokenShards::TokenShards(const std::string& dir, const std::string& part)
    : name_(fmt::format("{}/{}", dir, part)), begins_{0} {
  const int count = CountShards(dir, part);
  Require(
      count > 0, dir,
      "a folder must hold token files as tools/tokenize writes them, {}-00000.tokens and so on, "
      "got none; a text is given as one file",
      part);
  for (int i = 0; i < count; ++i) {
    files_.push_back(std::make_unique<TokenFile>(TokenShardPath(dir, part, i)));
    Require(files_[i]->origin() == origin(), files_[i]->name(),
            "requires the tokenizer of the first file, {} of {} tokens, got {} of {}",
            origin().tokenizer, origin().vocabulary, files_[i]->origin().tokenizer,
            files_[i]->origin().vocabulary);
    begins_.push_back(begins_.back() + files_[i]->size());
  }
}

void TokenShards::Copy(int64_t begin, int64_t count, int64_t* out) const {
  CheckTokenRange(*this, begin, count);
  // The file that holds `begin`.
  auto file = static_cast<size_t>(std::ranges::upper_bound(begins_, begin) - begins_.begin() - 1);
  for (; count > 0; ++file) {
    const int64_t some = std::min(count, begins_[file + 1] - begin);
    files_[file]->Copy(begin - begins_[file], some, out);
    begin += some, count -= some, out += some;
  }
}

}  // namespace torus::data
