// Masks and positions of tokens.
#include "ops/tokens/tokens.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/team_size_guard.h"
#include "tests/testing/largest_team.h"

namespace torus::ops {
namespace {

TEST(Tokens, PositionsCountBehindThePadding) {
  const Tensor ids = FromVector<int64_t>({0, 5, 1, 7, 1, 1, 9, 2}, {2, 4});
  EXPECT_EQ(ToVector<int64_t>(PositionsBehindPadding(ids, 1)),
            (std::vector<int64_t>{2, 3, 1, 4, 1, 1, 2, 3}));
}

std::vector<int64_t> Values(const Tensor& mask) { return ToVector<int64_t>(mask.To(DType::kI64)); }

TEST(Tokens, ACausalMaskLeavesOutLaterTokensAndPadding) {
  const Tensor tokens = FromVector<int64_t>({1, 1, 1, 0, 1, 1}, {2, 3});
  const Tensor mask = CausalMask(tokens);
  EXPECT_EQ(mask.shape(), (Shape{2, 1, 3, 3}));
  EXPECT_EQ(Values(mask), (std::vector<int64_t>{1, 0, 0, 1, 1, 0, 1, 1, 1,  //
                                                0, 0, 0, 0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(CausalMask(tokens.To(DType::kBool)).shape(), mask.shape());
}

// Two documents with padding between them; padding belongs to none, and sees all.
TEST(Tokens, ACausalMaskStaysWithinADocument) {
  const Tensor documents = FromVector<int64_t>({7, 7, 0, 3, 3}, {1, 5});
  EXPECT_EQ(Values(CausalMask(documents)), (std::vector<int64_t>{1, 0, 0, 0, 0,  //
                                                                 1, 1, 0, 0, 0,  //
                                                                 1, 1, 0, 0, 0,  //
                                                                 0, 0, 0, 1, 0,  //
                                                                 0, 0, 0, 1, 1}));
}

TEST(Tokens, PositionsBeginAnewInEachDocument) {
  const Tensor documents = FromVector<int64_t>({7, 7, 0, 3, 3, 9,   //
                                                0, 0, 1, 1, 0, 1,   //
                                                1, 1, 1, 2, 0, 0},  //
                                               {3, 6});
  EXPECT_EQ(ToVector<int64_t>(PositionsInDocuments(documents)),
            (std::vector<int64_t>{0, 1, 2, 0, 1, 0,  //
                                  0, 1, 2, 3, 4, 5,  //
                                  0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(PositionsInDocuments(Zeros({2, 0}, DType::kI64)).shape(), (Shape{2, 0}));
}

TEST(Tokens, TheLastQueriesAttendToAllBeforeThem) {
  const Tensor mask = CausalMask(2, 4);
  EXPECT_EQ(mask.shape(), (Shape{1, 1, 2, 4}));
  EXPECT_EQ(Values(mask), (std::vector<int64_t>{1, 1, 1, 0, 1, 1, 1, 1}));
}

// Long enough for several threads.
TEST(Tokens, AllTeamsMakeTheSame) {
  const int64_t texts = 3, width = 301;
  Tensor ids({texts, width}, DType::kI64);
  for (int64_t i = 0; i < ids.numel(); ++i) ids.mutable_data<int64_t>()[i] = i * i % 5;
  const int before = TeamSize();
  for (const int threads : {1, 3}) {
    SetTeamSize(threads);
    const std::vector<int64_t> mask = Values(CausalMask(ids)), last = Values(CausalMask(200, 400));
    int64_t at = 0;
    for (int64_t n = 0; n < texts; ++n) {
      const int64_t* const row = ids.data<int64_t>() + n * width;
      for (int64_t i = 0; i < width; ++i)
        for (int64_t j = 0; j < width; ++j, ++at)
          ASSERT_EQ(mask[static_cast<size_t>(at)],
                    j <= i && row[j] != 0 && (row[i] == row[j] || row[i] == 0));
    }
    for (int64_t i = 0; i < 200 * 400; ++i)
      ASSERT_EQ(last[static_cast<size_t>(i)], i % 400 <= 200 + i / 400);
    const std::vector<int64_t> positions = ToVector<int64_t>(PositionsBehindPadding(ids, 0));
    for (int64_t n = 0, i = 0; n < texts; ++n)
      for (int64_t t = 0, count = 0; t < width; ++t, ++i)
        ASSERT_EQ(positions[static_cast<size_t>(i)], ids.data<int64_t>()[i] == 0 ? 0 : ++count);
    const std::vector<int64_t> own = ToVector<int64_t>(PositionsInDocuments(ids));
    for (int64_t n = 0, i = 0; n < texts; ++n)
      for (int64_t t = 0, before = 0, count = 0; t < width; ++t, ++i) {
        const int64_t document = ids.data<int64_t>()[i];
        if (before != 0 && document != 0 && document != before) count = 0;
        if (document != 0) before = document;
        ASSERT_EQ(own[static_cast<size_t>(i)], count++);
      }
    const RowsOfPart part = FindRowsOfPart(ids.View({-1}), 1, 2);
    for (int64_t i = 0; i < ids.numel(); ++i) {
      const int64_t id = ids.data<int64_t>()[i];
      ASSERT_EQ(part.here.data<bool>()[i], id == 1 || id == 2);
      ASSERT_EQ(part.rows.data<int64_t>()[i], id == 2 ? 1 : 0);
    }
  }
  SetTeamSize(before);
}

TEST(Tokens, LongOnesTakeAllThreads) {
  using testing::LargestTeamOf;
  const TeamSizeGuard guard(3);
  const Tensor ids = Zeros({400, 300}, DType::kI64), few = ids.Narrow(0, 0, 4);
  EXPECT_EQ(LargestTeamOf([&] { PositionsBehindPadding(ids, 0); }), 3);
  EXPECT_EQ(LargestTeamOf([&] { CausalMask(few); }), 3);
  EXPECT_EQ(LargestTeamOf([&] { PositionsInDocuments(ids); }), 3);
  EXPECT_EQ(LargestTeamOf([&] { CausalMask(300, 400); }), 3);
  EXPECT_EQ(LargestTeamOf([&] { FindRowsOfPart(ids.View({-1}), 1, 2); }), 3);
}

TEST(Tokens, AreMadeWhereTheirIdsAre) {
  const Tensor ids = Empty({2, 1000000}, DType::kI64, kMetaDevice);
  EXPECT_EQ(PositionsBehindPadding(ids, 1).device(), kMetaDevice);
  EXPECT_EQ(PositionsInDocuments(ids).device(), kMetaDevice);
  EXPECT_EQ(CausalMask(ids).device(), kMetaDevice);
  EXPECT_EQ(CausalMask(ids).shape(), (Shape{2, 1, 1000000, 1000000}));
}

TEST(Tokens, NeedRowsOfIds) {
  EXPECT_THROW(PositionsBehindPadding(Zeros({3}, DType::kI64), 1), BadInput);
  EXPECT_THROW(PositionsInDocuments(Zeros({3}, DType::kI64)), BadInput);
  EXPECT_THROW(CausalMask(Zeros({3}, DType::kI64)), BadInput);
  EXPECT_THROW(CausalMask(5, 4), BadInput);
}

}  // namespace
}  // namespace torus::ops
