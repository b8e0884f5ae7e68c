#include "parallel/link/link_table.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Ends {
  int from = 0, to = 0;
  bool both = false;  // directions
};

constexpr int kMostRank = 1 << 20;

// "0-1" or "0>1".
std::optional<Ends> ParseEnds(std::string_view text) {
  Ends ends;
  const char* const end = text.data() + text.size();
  const auto from = std::from_chars(text.data(), end, ends.from);
  if (from.ec != std::errc() || from.ptr == end || (*from.ptr != '-' && *from.ptr != '>'))
    return {};
  ends.both = *from.ptr == '-';
  const auto to = std::from_chars(from.ptr + 1, end, ends.to);
  const bool ranks = ends.from >= 0 && ends.to >= 0 && ends.from != ends.to &&
                     std::max(ends.from, ends.to) <= kMostRank;
  if (to.ec != std::errc() || to.ptr != end || !ranks) return {};
  return ends;
}

}  // namespace

int LinkTable::largest_rank() const {
  int largest = -1;
  for (const auto& [ends, link] : own_) largest = std::max({largest, ends.first, ends.second});
  return largest;
}

LinkTable ParseLinks(std::span<const std::string> specs) {
  LinkTable table;
  for (const std::string& spec : specs) {
    const size_t colon = spec.find(':');
    if (colon == std::string::npos) {
      table = LinkTable(ParseLink(spec));
      continue;
    }
    const std::optional<Ends> ends = ParseEnds(std::string_view(spec).substr(0, colon));
    Require(ends.has_value(), "--link",
            "\"{}\" must begin with two ranks, as 0-1: for both directions or 0>1: for one", spec);
    const LinkModel link = ParseLink(std::string_view(spec).substr(colon + 1));
    table.Set(ends->from, ends->to, link);
    if (ends->both) table.Set(ends->to, ends->from, link);
  }
  return table;
}

}  // namespace torus::parallel
