#include "models/checkpoint/misfit.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "runtime/io/json.h"

namespace torus {
namespace {

constexpr size_t kShown = 8;

// How many of each list are shown: in turn one of each, as long as there are some.
template <size_t N>
std::array<size_t, N> Shares(const std::array<size_t, N>& sizes) {
  std::array<size_t, N> shares{};
  size_t total = 0;
  for (bool more = true; more && total < kShown;) {
    more = false;
    for (size_t i = 0; i < N && total < kShown; ++i) {
      if (shares[i] == sizes[i]) continue;
      ++shares[i], ++total;
      more = true;
    }
  }
  return shares;
}

// Calls visit(beginning, rest) for each way to cut a name before one of its parts, the longest rest
// first.
template <class Visit>
void ForEachCut(const std::string& name, const Visit& visit) {
  for (size_t at = 0;; ++at) {
    if (visit(name.substr(0, at), name.substr(at))) return;
    at = name.find('.', at);
    if (at == std::string::npos) return;
  }
}

}  // namespace

// Each missing name votes for the change of beginning that makes it of a surplus one.
std::string Misfit::Guess() const {
  std::map<std::string, std::string> beginnings;  // by rest
  for (const std::string& name : surplus_)
    ForEachCut(name, [&](const std::string& beginning, const std::string& rest) {
      beginnings.emplace(rest, beginning);
      return false;
    });
  std::map<std::pair<std::string, std::string>, size_t> votes;
  for (const std::string& name : missing_)
    ForEachCut(name, [&](const std::string& beginning, const std::string& rest) {
      const auto found = beginnings.find(rest);
      if (found != beginnings.end()) ++votes[{found->second, beginning}];
      return found != beginnings.end();
    });
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  if (most == votes.end() || most->second < 2 || 2 * most->second < missing_.size()) return "";
  const auto& [theirs, ours] = most->first;
  const std::string names = fmt::format("; {} of the missing names are there", most->second);
  if (theirs.empty()) return fmt::format("{} without {} in front", names, ours);
  const std::string shown = io::Printable(theirs).text();
  if (ours.empty()) return fmt::format("{} with {} in front", names, shown);
  return fmt::format("{} with {} in front instead of {}", names, shown, ours);
}

std::string Misfit::Text() const {
  const auto shares = Shares<3>({others_.size(), missing_.size(), surplus_.size()});
  std::vector<std::string> shown(others_.begin(), others_.begin() + static_cast<long>(shares[0]));
  for (size_t i = 0; i < shares[1]; ++i) shown.push_back(missing_[i] + " is missing");
  for (size_t i = 0; i < shares[2]; ++i)
    shown.push_back(io::Printable(surplus_[i]).text() + " is surplus");
  if (shown.size() < count()) shown.push_back(fmt::format("and {} more", count() - shown.size()));
  return fmt::format("does not fit the model in {} tensor{}: {}{}", count(),
                     count() == 1 ? "" : "s", fmt::join(shown, "; "), Guess());
}

}  // namespace torus
