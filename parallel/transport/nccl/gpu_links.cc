#include "parallel/transport/nccl/gpu_links.h"

#include <fmt/ranges.h>

#include <map>

#include "parallel/transport/members.h"
#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

constexpr std::pair<const char*, const char*> kNames[] = {
    {"auto", "nccl if each rank has a GPU of its own, otherwise copy"},
    {"nccl", "NCCL, or an error if it is impossible"},
    {"copy", "from GPU to GPU within a process, through CPU memory between processes"}};

// What a rank tells the others.
struct Word {
  GpuId id{};
  char has_nccl = 0;
};

// Ranks by the GPU that they compute on.
std::map<GpuId, std::vector<int>> RanksByGpu(const std::vector<Word>& words) {
  std::map<GpuId, std::vector<int>> ranks;
  for (size_t rank = 0; rank < words.size(); ++rank)
    ranks[words[rank].id].push_back(static_cast<int>(rank));
  return ranks;
}

// Why NCCL cannot send their memory; empty if it can.
std::string WhyNotNccl(const std::vector<Word>& words,
                       const std::map<GpuId, std::vector<int>>& ranks) {
  if (words.size() == 1) return "one rank has no other to send to";
  for (size_t rank = 0; rank < words.size(); ++rank)
    if (!words[rank].has_nccl)
      return fmt::format("the build of rank {} has no NCCL; one with --config=cuda has", rank);
  for (const auto& [id, sharers] : ranks)
    if (sharers.size() > 1)
      return fmt::format("NCCL takes no GPU twice, and ranks {} share one",
                         fmt::join(sharers, ", "));
  return "";
}

std::string Many(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> GpuLinksDescriptions() {
  return {std::begin(kNames), std::end(kNames)};
}

std::vector<std::string> GpuLinksNames() {
  std::vector<std::string> names;
  for (const auto& [name, about] : kNames) names.emplace_back(name);
  return names;
}

GpuLinks GpuLinksByName(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i].first) return static_cast<GpuLinks>(i);
  Throw<BadInput>("gpu-links", "unknown \"{}\"; there are: {}", name,
                  fmt::join(GpuLinksNames(), ", "));
}

GpuLinksChoice ChooseGpuLinks(Transport& transport, Device gpu, GpuLinks asked, bool has_nccl) {
  const std::vector<Word> words =
      Share(transport, kMembersTag, Word{IdOf(gpu), has_nccl}, "GPUs of the ranks");
  const auto ranks = RanksByGpu(words);
  const std::string why_not = WhyNotNccl(words, ranks);
  const std::string there =
      fmt::format("{} on {}", Many(words.size(), "rank"), Many(ranks.size(), "GPU"));
  Require(asked != GpuLinks::kNccl || why_not.empty(), "gpu-links", "nccl cannot be: {} ({})",
          why_not, there);
  if (asked != GpuLinks::kCopy && why_not.empty())
    return {true, fmt::format("{}: NCCL moves their memory", there)};
  const std::string why = asked == GpuLinks::kCopy ? "as asked for" : why_not;
  return {false, words.size() == 1 ? there
                                   : fmt::format("{}: their memory is copied, not moved by NCCL "
                                                 "({})",
                                                 there, why)};
}

}  // namespace torus::parallel
