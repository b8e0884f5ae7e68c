#include "parallel/trainer/totals_builder.h"

#include <gtest/gtest.h>

#include <tuple>

namespace torus::parallel {
namespace {

using Link = std::tuple<int, int, std::string, uint64_t>;  // from, to, kind, sent bytes

std::vector<Link> LinksIn(const TrainTotals& totals) {
  std::vector<Link> links;
  for (const LinkBytes& link : totals.links)
    links.emplace_back(link.from, link.to, link.what, link.sent);
  return links;
}

// What rank `rank` of `ranks` counts that sends `bytes` to each of the others.
RankCounts ToAll(int rank, int ranks, uint64_t bytes) {
  RankCounts counts;
  counts.reduced_bytes.assign(ranks, bytes);
  counts.reduced_bytes[rank] = 0;
  counts.uncoded_bytes = counts.reduced_bytes;
  return counts;
}

RankPlace PlaceOf(int rank) {
  RankPlace place{};
  place.rank = rank;
  return place;
}

TEST(TotalsBuilder, LinksAddUpByReceiverAndKindInTheOrderOfRanks) {
  TrainTotals totals;
  for (int rank : {0, 1}) AddSegment(PlaceOf(rank), ToAll(rank, 2, 10), totals);
  RankCounts again = ToAll(0, 2, 5);
  again.cuts.push_back({.forward = true, .peer = 1, .raw_bytes = 3, .sent_bytes = 3});
  AddSegment(PlaceOf(0), again, totals);
  AddSegment(PlaceOf(1), ToAll(1, 2, 7), totals);
  EXPECT_EQ(LinksIn(totals),
            (std::vector<Link>{
                {0, 1, "all-reduce", 15}, {0, 1, "activations", 3}, {1, 0, "all-reduce", 17}}));
}

// As a map does it; with a search among all links, or with all that come later moved for each rank,
// this takes minutes.
TEST(TotalsBuilder, ThatOfAThousandRanksIsNoMoreThanItsLinks) {
  constexpr int kRanks = 1000;
  TrainTotals totals;
  for (int segment = 0; segment < 3; ++segment)
    for (int rank = 0; rank < kRanks; ++rank)
      AddSegment(PlaceOf(rank), ToAll(rank, kRanks, 1), totals);
  ASSERT_EQ(totals.links.size(), size_t{kRanks} * (kRanks - 1));
  for (const LinkBytes& link : totals.links) ASSERT_EQ(link.sent, 3u);
}

}  // namespace
}  // namespace torus::parallel
