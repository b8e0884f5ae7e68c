#include "ops/einsum/equation.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "runtime/error.h"

namespace torus::ops {
namespace {

constexpr const char* kEinsum = "einsum";
constexpr int kFirstUnnamed = 52, kEllipsis = -1;

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int LabelOf(char letter) { return letter <= 'Z' ? letter - 'A' : letter - 'a' + 26; }

// Labels and at most one kEllipsis.
std::vector<int> ReadTerm(std::string_view term) {
  std::vector<int> labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (IsLetter(term[i])) {
      labels.push_back(LabelOf(term[i]));
      continue;
    }
    Require(term.substr(i, 3) == "..." && !std::ranges::count(labels, kEllipsis), kEinsum,
            "needs letters and at most one ellipsis, got '{}'", term);
    labels.push_back(kEllipsis);
    i += 2;
  }
  return labels;
}

std::vector<std::vector<int>> ReadTerms(std::string_view text) {
  std::vector<std::vector<int>> terms;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    terms.push_back(ReadTerm(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return terms;
}

// How many dimensions the ellipsis of a term of that rank stands for.
int CountUnnamed(const std::vector<int>& term, int rank) {
  const bool open = std::ranges::count(term, kEllipsis) > 0;
  const int named = static_cast<int>(term.size()) - (open ? 1 : 0);
  Require(open ? named <= rank : named == rank, kEinsum,
          "{} letters{} do not fit an operand of {} dimensions", named,
          open ? " and an ellipsis" : "", rank);
  return rank - named;
}

// With the last `count` of the `most` unnamed labels in the place of the ellipsis: as dimensions
// broadcast, the last ones are common to all operands.
std::vector<int> Unrolled(const std::vector<int>& term, int count, int most) {
  std::vector<int> labels;
  for (int label : term) {
    if (label != kEllipsis) {
      labels.push_back(label);
      continue;
    }
    for (int i = most - count; i < most; ++i) labels.push_back(kFirstUnnamed + i);
  }
  return labels;
}

std::vector<int> ImplicitResult(const std::vector<std::vector<int>>& operands, int unnamed) {
  std::map<int, int> counts;
  for (const std::vector<int>& labels : operands)
    for (int label : labels) ++counts[label];
  std::vector<int> result;
  for (int i = 0; i < unnamed; ++i) result.push_back(kFirstUnnamed + i);
  for (const auto& [label, count] : counts)
    if (label < kFirstUnnamed && count == 1) result.push_back(label);
  return result;
}

void CheckResult(const EinsumLabels& labels, std::string_view equation) {
  for (int label : labels.result) {
    Require(std::ranges::count(labels.result, label) == 1, kEinsum,
            "has a letter twice in the result: {}", equation);
    const bool known = std::ranges::any_of(
        labels.operands, [&](const auto& operand) { return std::ranges::count(operand, label); });
    Require(known, kEinsum, "has a letter in the result that no operand has: {}", equation);
  }
}

}  // namespace

EinsumLabels ReadEquation(std::string_view equation, std::span<const int> ranks) {
  const size_t arrow = equation.find("->");
  const std::vector<std::vector<int>> terms = ReadTerms(equation.substr(0, arrow));
  Require(terms.size() == ranks.size(), kEinsum, "'{}' has {} operands, got {}", equation,
          terms.size(), ranks.size());
  std::vector<int> unnamed;
  for (size_t i = 0; i < terms.size(); ++i) unnamed.push_back(CountUnnamed(terms[i], ranks[i]));
  const int most = std::ranges::max(unnamed);
  EinsumLabels labels;
  for (size_t i = 0; i < terms.size(); ++i)
    labels.operands.push_back(Unrolled(terms[i], unnamed[i], most));
  labels.result = arrow == equation.npos
                      ? ImplicitResult(labels.operands, most)
                      : Unrolled(ReadTerm(equation.substr(arrow + 2)), most, most);
  CheckResult(labels, equation);
  return labels;
}

}  // namespace torus::ops
