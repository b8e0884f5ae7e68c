#include "models/checkpoint/weights_part.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>

#include "runtime/error.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/json.h"

namespace torus {
namespace {

constexpr int kDeepest = 16;  // dots of a part's name
constexpr size_t kMostShown = 12;

// Tensors with a common beginning of their names.
struct Candidate {
  std::string prefix;           // with its last dot; empty for all
  std::vector<size_t> tensors;  // in the file
  int64_t names = 0;            // of the model's that they have
  int64_t shapes = 0;           // of these, with the model's shape
  int64_t surplus = 0;          // that the model has no place for

  std::string name() const { return prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1); }
};

bool FitsBetter(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& c) {
    return std::tuple(-c.names, -c.shapes, c.surplus, c.prefix.size());
  };
  return key(a) < key(b);
}

bool FitsAsWell(const Candidate& a, const Candidate& b) {
  return a.names == b.names && a.shapes == b.shapes;
}

bool Nested(const Candidate& a, const Candidate& b) {
  return a.prefix.starts_with(b.prefix) || b.prefix.starts_with(a.prefix);
}

// The shapes of the model's state, as files have them, by all its names.
std::map<std::string, Shape> ShapesOf(const nn::Module& model) {
  std::map<std::string, Shape> shapes;
  for (const NamedVariable& p : model.Parameters())
    shapes[p.name] = ToFileLayout(p.value.data().shape());
  for (const NamedTensor& b : model.Buffers()) shapes[b.name] = ToFileLayout(b.value.shape());
  for (const nn::Alias& alias : model.Aliases()) shapes[alias.name] = shapes[alias.owner];
  return shapes;
}

std::vector<Candidate> CandidatesOf(const FileWeights& file, const std::string& begin) {
  std::map<std::string, Candidate> found;
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    const std::string& name = file.tensors[i].name;
    if (!name.starts_with(begin)) continue;
    size_t end = begin.size();
    for (int depth = 0; depth <= kDeepest; ++depth) {
      Candidate& candidate = found[name.substr(0, end)];
      candidate.tensors.push_back(i);
      const size_t dot = name.find('.', end);
      if (dot == std::string::npos) break;
      end = dot + 1;
    }
  }
  std::vector<Candidate> all;
  for (auto& [prefix, candidate] : found) {
    candidate.prefix = prefix;
    all.push_back(std::move(candidate));
  }
  return all;
}

// Compares candidates with one model.
class Judge {
 public:
  Judge(const nn::Module& model, const FileWeights& file, const NameRules& rules)
      : file_(file), fitter_(model, rules), shapes_(ShapesOf(model)) {}

  void Score(Candidate& candidate) const {
    const auto relative = [&](size_t i) {
      return file_.tensors[i].name.substr(candidate.prefix.size());
    };
    const bool lacks_base = std::ranges::none_of(
        candidate.tensors, [&](size_t i) { return fitter_.IsBase(relative(i)); });
    std::set<std::string> seen;
    for (const size_t i : candidate.tensors) {
      const std::string name = fitter_.Fit(relative(i), lacks_base);
      if (!fitter_.IsWanted(name)) {
        candidate.surplus += !name.empty() && !fitter_.IsOfAHead(name);
      } else if (seen.insert(name).second) {
        ++candidate.names;
        candidate.shapes += shapes_.at(name) == file_.tensors[i].value.shape();
      }
    }
  }
  // A few names that fit by chance are no part.
  bool FitsAtAll(const Candidate& candidate) const {
    return 4 * candidate.names >= static_cast<int64_t>(shapes_.size());
  }

 private:
  const FileWeights& file_;
  const NameFitter fitter_;
  const std::map<std::string, Shape> shapes_;
};

bool SameTensors(const FileWeights& file, const Candidate& a, const Candidate& b) {
  return std::ranges::equal(a.tensors, b.tensors, [&](size_t i, size_t j) {
    const Tensor &x = file.tensors[i].value, &y = file.tensors[j].value;
    return x.storage() == y.storage() && x.offset() == y.offset() && x.shape() == y.shape();
  });
}

// Whether a part's name speaks of other weights than those that were trained.
bool IsSecondary(const std::string& part) {
  static constexpr std::array<std::string_view, 13> kWords = {
      "ema",  "swa",    "avg",       "average", "averaged", "averages", "shadow",
      "best", "polyak", "optimizer", "optim",   "momentum", "backup"};
  std::string word;
  for (const char c : part + ".") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (std::ranges::find(kWords, word) != kWords.end()) return true;
    word.clear();
  }
  return false;
}

std::string NamesOf(const std::vector<Candidate>& parts) {
  std::vector<std::string> names;
  for (const Candidate& part : parts) names.push_back(io::Printable(part.name()).text());
  if (names.size() > kMostShown) {
    names.resize(kMostShown);
    names.push_back("...");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The parts that fit equally well as the first, which fits best; no two are nested or the same.
std::vector<Candidate> BestParts(const FileWeights& file, const std::vector<Candidate>& sorted) {
  std::vector<Candidate> best;
  for (const Candidate& candidate : sorted) {
    if (!FitsAsWell(candidate, sorted.front())) break;
    const bool fresh = std::ranges::none_of(best, [&](const Candidate& other) {
      return Nested(candidate, other) || SameTensors(file, candidate, other);
    });
    if (fresh) best.push_back(candidate);
  }
  return best;
}

const Candidate& OnlyOne(const std::vector<Candidate>& parts, const std::string& where) {
  if (parts.size() == 1) return parts.front();
  const auto primary = [](const Candidate& part) { return !IsSecondary(part.name()); };
  Require(std::ranges::count_if(parts, primary) == 1, where,
          "has {} sets of weights that fit equally well: {}; choose one with --init-part",
          parts.size(), NamesOf(parts));
  return *std::ranges::find_if(parts, primary);
}

// What a name has behind its common beginning with the part's, up to the next dot: what is left is
// counted by it.
std::string GroupOf(const std::string& name, const std::string& prefix) {
  const auto [end, other] = std::ranges::mismatch(name, prefix);
  const auto common = static_cast<size_t>(end - name.begin());
  const size_t dot = common == 0 ? std::string::npos : name.rfind('.', common - 1);
  const size_t from = dot == std::string::npos ? 0 : dot + 1;
  return name.substr(0, name.find('.', from));
}

std::vector<std::string> LeftOf(const FileWeights& file, const std::string& prefix) {
  std::vector<std::pair<std::string, int64_t>> groups;  // in the file's order
  std::map<std::string, size_t> places;
  const auto count = [&](const std::string& name, int64_t tensors) {
    if (name.starts_with(prefix)) return;
    const auto [place, fresh] = places.try_emplace(GroupOf(name, prefix), groups.size());
    if (fresh) groups.push_back({place->first, 0});
    groups[place->second].second += tensors;
  };
  for (const NamedTensor& tensor : file.tensors) count(tensor.name, 1);
  for (const std::string& other : file.others) count(other.substr(0, other.find(" = ")), 0);
  std::vector<std::string> left;
  for (const auto& [group, tensors] : groups)
    left.push_back(
        io::Printable(group).text() +
        (tensors == 0 ? "" : fmt::format(" ({} tensor{})", tensors, tensors == 1 ? "" : "s")));
  return left;
}

// "linear.weight = torch._utils._rebuild_sparse_tensor(...)" as name and value, of a call only what
// is called.
std::map<std::string, std::string> OthersOf(const FileWeights& file, const std::string& prefix) {
  std::map<std::string, std::string> others;
  for (const std::string& other : file.others) {
    const size_t equals = other.find(" = ");
    if (!other.starts_with(prefix) || equals == std::string::npos || equals < prefix.size())
      continue;
    const std::string value = other.substr(equals + 3);
    const size_t call = value.find('(');
    others[other.substr(prefix.size(), equals - prefix.size())] =
        call == std::string::npos ? value : value.substr(0, call) + "(...)";
  }
  return others;
}

WeightsPart Take(const FileWeights& file, const Candidate& candidate) {
  WeightsPart part{.taken = {.part = candidate.name(),
                             .tensors = static_cast<int64_t>(candidate.tensors.size()),
                             .left = LeftOf(file, candidate.prefix),
                             .differences = file.differences},
                   .tensors = {},
                   .others = OthersOf(file, candidate.prefix)};
  for (const size_t i : candidate.tensors)
    part.tensors.push_back(
        {file.tensors[i].name.substr(candidate.prefix.size()), file.tensors[i].value});
  return part;
}

std::string WithDot(const std::string& name) { return name.empty() ? "" : name + "."; }

bool Has(const FileWeights& file, const std::string& prefix) {
  return std::ranges::any_of(file.tensors,
                             [&](const auto& tensor) { return tensor.name.starts_with(prefix); });
}

// What the names begin with that `wish` means: from the file's top, or within the dictionary that
// holds all tensors.
std::string BeginOf(const FileWeights& file, const std::string& wish, const std::string& where) {
  if (wish.empty()) return "";
  for (const std::string& begin : {wish + ".", WithDot(file.inner) + wish + "."})
    if (Has(file, begin)) return begin;
  Throw<BadInput>(where, "has no tensors under --init-part {}; it has {}", io::Printable(wish),
                  fmt::join(LeftOf(file, WithDot(file.inner) + "."), ", "));
}

}  // namespace

std::string TakenWeights::Line(const std::string& file) const {
  std::vector<std::string> shown = left;
  if (shown.size() > kMostShown) {
    shown.resize(kMostShown);
    shown.push_back(fmt::format("and {} more", left.size() - kMostShown));
  }
  std::string line;
  if (!part.empty() || !shown.empty())
    line = fmt::format("takes {}{} tensors", part.empty() ? "" : io::Printable(part).text() + ", ",
                       tensors);
  if (!shown.empty()) line += fmt::format("; leaves {}", fmt::join(shown, ", "));
  if (!differences.empty())
    line += fmt::format("{}{}", line.empty() ? "" : "; ", fmt::join(differences, "; "));
  return line.empty() ? "" : file + ": " + line;
}

WeightsPart ChoosePart(const nn::Module& model, const FileWeights& file, const NameRules& rules,
                       const std::string& wish, const std::string& where) {
  std::vector<Candidate> candidates = CandidatesOf(file, BeginOf(file, wish, where));
  const Judge judge(model, file, rules);
  for (Candidate& candidate : candidates) judge.Score(candidate);
  std::ranges::stable_sort(candidates, FitsBetter);
  if (candidates.empty() || !judge.FitsAtAll(candidates.front()))
    return NamedPart(file, wish, where);
  return Take(file, OnlyOne(BestParts(file, candidates), where));
}

WeightsPart NamedPart(const FileWeights& file, const std::string& wish, const std::string& where) {
  Candidate all{.prefix = wish.empty() ? WithDot(file.inner) : BeginOf(file, wish, where),
                .tensors = {}};
  for (size_t i = 0; i < file.tensors.size(); ++i)
    if (file.tensors[i].name.starts_with(all.prefix)) all.tensors.push_back(i);
  return Take(file, all);
}

}  // namespace torus
