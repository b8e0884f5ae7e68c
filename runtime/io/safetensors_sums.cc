#include "runtime/io/safetensors_sums.h"

#include <charconv>
#include <string_view>

#include "runtime/crc32c.h"
#include "runtime/error.h"

namespace torus::safetensors {
namespace {

constexpr size_t kDigits = 8;
constexpr std::string_view kZeros = "00000000";

// Where HEADER is; npos: nowhere. Quotes within JSON strings are escaped, so no name or value is
// taken for the key.
size_t HeaderSumAt(const std::string& text) {
  static const std::string kBefore = fmt::format("\"{}\":\"", kSums);
  const size_t at = text.find(kBefore);
  return at == std::string::npos || text.size() - at < kBefore.size() + kDigits
             ? std::string::npos
             : at + kBefore.size();
}

// Its checksums; empty if it has another form.
std::vector<uint32_t> Parse(std::string_view entry) {
  std::vector<uint32_t> sums;
  for (; entry.size() >= kDigits; entry.remove_prefix(kDigits)) {
    if (!sums.empty() && (entry.front() != ' ' || entry.size() == kDigits)) return {};
    if (!sums.empty()) entry.remove_prefix(1);
    uint32_t sum = 0;
    const char* const end = entry.data() + kDigits;
    const auto read = std::from_chars(entry.data(), end, sum, 16);
    if (read.ec != std::errc() || read.ptr != end) return {};
    if (entry.substr(0, kDigits) != fmt::format("{:08x}", sum)) return {};  // no other spelling
    sums.push_back(sum);
  }
  return entry.empty() ? sums : std::vector<uint32_t>();
}

}  // namespace

std::string SumsEntry(const std::vector<uint32_t>& tensors) {
  std::string entry(kZeros);
  for (const uint32_t sum : tensors) entry += fmt::format(" {:08x}", sum);
  return entry;
}

void SealHeader(std::string& text) {
  const size_t at = HeaderSumAt(text);
  TORUS_CHECK(at != std::string::npos);
  text.replace(at, kDigits, fmt::format("{:08x}", Crc32c(text)));
}

void TakeSums(const std::string& path, const std::string& text, Header& header) {
  const auto found = header.metadata.find(kSums);
  if (found == header.metadata.end()) return;
  const std::vector<uint32_t> sums = Parse(found->second);
  Require(sums.size() == header.entries.size() + 1, path,
          "must have a checksum in \"{}\" for its header and for each of {} tensors, got \"{}\"",
          kSums, header.entries.size(), Quote(found->second));
  header.metadata.erase(found);
  std::string zeroed = text;
  if (const size_t at = HeaderSumAt(text); at != std::string::npos)
    zeroed.replace(at, kDigits, kZeros);
  const uint32_t sum = Crc32c(zeroed);
  Require(sum == sums[0], path,
          "is damaged: its header must have the checksum (CRC-32C) {:08x}, got {:08x} (if another "
          "program wrote the file anew, remove \"{}\" from its metadata)",
          sums[0], sum, kSums);
  for (size_t i = 0; i < header.entries.size(); ++i) header.entries[i].checksum = sums[i + 1];
}

}  // namespace torus::safetensors
