#include "parallel/codec/prune.h"

#include <array>
#include <cmath>

#include "parallel/codec/float_scratch.h"
#include "parallel/codec/for_each_block.h"
#include "parallel/codec/index_set.h"
#include "parallel/codec/order_statistics.h"
#include "parallel/codec/random_words.h"
#include "parallel/codec/value_range.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The values of lowest rank are kept.
void RankByMagnitude(std::span<const float> in, std::span<float> ranks) {
  ForEachBlock(static_cast<int64_t>(in.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ranks[i] = -std::fabs(in[i]);
  });
}

void RankAtRandom(const CodecContext& context, std::span<float> ranks) {
  const RandomWords random(context, "randk");
  ForEachBlock(static_cast<int64_t>(ranks.size()), [&](int64_t begin, int64_t end) {
    std::array<uint32_t, kCodecBlock> words;
    random.Fill(begin, end - begin, words.data());
    for (int64_t i = begin; i < end; ++i)
      ranks[i] = static_cast<float>(static_cast<int32_t>(words[i - begin] >> 8));
  });
}

// The values up to the one at `last` in a stable sort.
void Choose(std::span<const float> ranks, size_t last, std::span<uint64_t> words) {
  const float cut = ranks[last];
  const auto chosen = [&](size_t i) { return ranks[i] < cut || (ranks[i] == cut && i <= last); };
  ParallelFor(static_cast<int64_t>(words.size()), 512, [&](int64_t first, int64_t end) {
    for (int64_t w = first; w < end; ++w) {
      const size_t begin = 64 * static_cast<size_t>(w), stop = std::min(ranks.size(), begin + 64);
      uint64_t bits = 0;
      for (size_t i = begin; i < stop; ++i) bits |= uint64_t{chosen(i)} << (i - begin);
      words[w] = bits;
    }
  });
}

}  // namespace

Prune::Prune(Choice choice, double share) : choice_(choice), share_(share) {
  Require(share > 0 && share <= 1, kind(), "takes a share above 0 and up to 1, got {}", share);
}

std::string Prune::name() const { return fmt::format("{}:{}", kind(), share_); }

int64_t Prune::Kept(int64_t count) const {
  const auto kept = static_cast<int64_t>(std::ceil(share_ * static_cast<double>(count)));
  return std::min(count, std::max<int64_t>(kept, count > 0 ? 1 : 0));
}

int64_t Prune::Values(const Shape& shape) const { return Kept(Numel(shape)); }

size_t Prune::SideBytes(const Shape& shape) const {
  return IndexSet::WireBytes(Numel(shape), Values(shape));
}

bool Prune::Forward(const CodecContext& context, std::span<const float> in, std::span<float> kept,
                    std::span<std::byte> side) const {
  if (in.empty()) return true;
  if (!RangeOf(in).finite) return false;
  FloatScratch scratch(in.size());
  const std::span<float> ranks = scratch.span();
  if (choice_ == Choice::kGreatest)
    RankByMagnitude(in, ranks);
  else
    RankAtRandom(context, ranks);
  const int64_t k = static_cast<int64_t>(kept.size());
  const std::array<int64_t, 1> rank{k - 1};
  std::array<uint32_t, 1> last{};
  TORUS_CHECK(OrderStatistics(ranks, rank, last), "of finite values");
  IndexSet set(static_cast<int64_t>(in.size()));
  Choose(ranks, last[0], set.words());
  set.Gather(in, kept);
  set.Write(k, side);
  return true;
}

void Prune::Inverse(const CodecContext& /*context*/, std::span<const float> kept,
                    std::span<const std::byte> side, std::span<float> out) const {
  if (out.empty()) return;
  IndexSet::Read(kind(), static_cast<int64_t>(out.size()), static_cast<int64_t>(kept.size()), side)
      .Scatter(kept, out);
}

}  // namespace torus::parallel
