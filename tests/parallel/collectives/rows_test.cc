// Rows of any lengths: sums in rank order, on the rank whose row it is.
#include "parallel/collectives/rows.h"

#include <gtest/gtest.h>

#include <numeric>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Row r of rank `rank`: values whose sum depends on the order in f32.
std::vector<float> Row(int rank, int r, size_t size) {
  std::vector<float> row(size);
  for (size_t i = 0; i < size; ++i)
    row[i] = static_cast<float>(rank % 2 == 0 ? 1e8 : -1e8) + static_cast<float>(rank + r) +
             0.37f * static_cast<float>(i);
  return row;
}

const std::vector<std::vector<size_t>> kSizes{
    {5}, {3, 0}, {0, 7, 1}, {4, 4, 4, 4}, {0, 0, 0, 9, 2}};

TEST(Rows, SumsAreThoseInRankOrder) {
  for (const std::vector<size_t>& sizes : kSizes) {
    const int n = static_cast<int>(sizes.size());
    RunRanks(n, [&](Transport& t) {
      std::vector<std::vector<float>> data;
      std::vector<std::span<float>> rows;
      for (int r = 0; r < n; ++r) data.push_back(Row(t.rank(), r, sizes[r]));
      for (std::vector<float>& row : data) rows.emplace_back(row);
      ReduceRows<float>(t, rows, "test");
      for (int r = 0; r < n; ++r) {
        std::vector<float> want = Row(r == t.rank() ? 0 : t.rank(), r, sizes[r]);
        for (int other = 1; r == t.rank() && other < n; ++other)
          for (size_t i = 0; i < want.size(); ++i) want[i] += Row(other, r, sizes[r])[i];
        EXPECT_EQ(data[r], want) << "row " << r << " of " << n << " on rank " << t.rank();
      }
    });
  }
}

TEST(Rows, AllHaveThemAfterTheGather) {
  for (const std::vector<size_t>& sizes : kSizes) {
    const int n = static_cast<int>(sizes.size());
    RunRanks(n, [&](Transport& t) {
      std::vector<std::vector<float>> data;
      std::vector<std::span<std::byte>> rows;
      for (int r = 0; r < n; ++r)
        data.push_back(r == t.rank() ? Row(r, r, sizes[r]) : std::vector<float>(sizes[r]));
      for (std::vector<float>& row : data) rows.push_back(std::as_writable_bytes(std::span(row)));
      GatherRows(t, rows, "test");
      for (int r = 0; r < n; ++r) EXPECT_EQ(data[r], Row(r, r, sizes[r]));
      uint64_t sent = 0;
      for (int r = 0; r < n; ++r) sent += t.BytesSent(r, TagClass::kCollective);
      EXPECT_EQ(sent, (n - 1) * sizes[t.rank()] * sizeof(float));
    });
  }
}

TEST(Rows, ThereIsOneForEachRank) {
  RunRanks(2, [](Transport& t) {
    EXPECT_THROW(ReduceRows<float>(t, {{}}, "test"), BadInput);
    EXPECT_THROW(GatherRows(t, {{}, {}, {}}, "test"), BadInput);
  });
}

}  // namespace
}  // namespace torus::parallel
