#include "tools/labs/build_it_yourself/grader/switchboard.h"

#include <gtest/gtest.h>

#include <cstring>

namespace torus::tools::labs {
namespace {

using lab::Head;
using lab::Kind;

std::vector<char> Floats(const std::vector<float>& values) {
  std::vector<char> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class SwitchboardTest : public ::testing::Test {
 protected:
  std::optional<std::string> Send(int from, int to, size_t floats) {
    return board_.Take(from, {Kind::kSend, to}, Floats(std::vector<float>(floats)));
  }
  std::optional<std::string> Recv(int at, int from, size_t floats) {
    return board_.Take(at, {Kind::kRecv, from, floats * sizeof(float)}, {});
  }
  void Compute(int rank, double seconds) { board_.Take(rank, {Kind::kCompute, 0, 0, seconds}, {}); }
  double clock(int rank) const { return board_.records()[rank].clock; }

  std::vector<std::pair<int, std::vector<char>>> answers_;
  // A second for 4 floats, and one more on the way.
  Switchboard board_{3, {1, 16}, [this](int rank, const Head&, std::vector<char> payload) {
                       answers_.emplace_back(rank, std::move(payload));
                     }};
};

TEST_F(SwitchboardTest, MessagesTakeTheirTime) {
  Compute(0, 2);
  EXPECT_EQ(Send(0, 1, 4), std::nullopt);
  EXPECT_EQ(Send(0, 1, 4), std::nullopt);  // behind the first
  EXPECT_EQ(Recv(1, 0, 4), std::nullopt);
  EXPECT_EQ(clock(1), 2 + 1 + 1);
  Recv(1, 0, 4);
  EXPECT_EQ(clock(1), 2 + 1 + 1 + 1);
  EXPECT_EQ(clock(0), 2);  // a send does not wait
  EXPECT_EQ(answers_.size(), 2U);
}

TEST_F(SwitchboardTest, CountsChainsOfMessages) {
  Send(0, 1, 1);
  Send(0, 1, 1);
  Recv(1, 0, 1);
  Recv(1, 0, 1);
  EXPECT_EQ(board_.records()[1].steps, 1);
  Send(1, 2, 1);
  Recv(2, 1, 1);
  EXPECT_EQ(board_.records()[2].steps, 2);
  EXPECT_EQ(board_.records()[0].bytes_sent, 8U);
}

TEST_F(SwitchboardTest, RefusesWhatDoesNotFit) {
  EXPECT_NE(Send(0, 3, 1), std::nullopt);
  EXPECT_NE(Send(0, 0, 1), std::nullopt);
  EXPECT_NE(Recv(0, -1, 1), std::nullopt);
  Send(0, 1, 2);
  EXPECT_EQ(Recv(1, 0, 3), "rank 1 expects 3 floats from rank 0, whose message has 2");
}

TEST_F(SwitchboardTest, KnowsADeadlock) {
  Recv(0, 1, 1);
  Recv(1, 2, 1);
  EXPECT_EQ(board_.Deadlock(), std::nullopt);
  board_.Take(2, {Kind::kResult}, {});
  EXPECT_EQ(board_.Deadlock(),
            "deadlock of 3 ranks: rank 0 waits for rank 1; rank 1 waits for rank 2, which has "
            "ended");
}

TEST_F(SwitchboardTest, KnowsWhatWasNotRead) {
  EXPECT_EQ(board_.Unread(), std::nullopt);
  Send(2, 0, 1);
  EXPECT_EQ(board_.Unread(), "rank 0 has not received 1 of the messages that rank 2 sent it");
}

TEST_F(SwitchboardTest, BoundsWhatItHolds) {
  constexpr size_t kQuarter = kMostHeld / sizeof(float) / 4 - sizeof(Head);
  for (int i = 0; i < 8; ++i) {  // what is received is held no longer
    EXPECT_EQ(Send(0, 1, kQuarter), std::nullopt);
    EXPECT_EQ(Recv(1, 0, kQuarter), std::nullopt);
  }
  answers_.clear();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Send(0, 1 + i % 2, kQuarter), std::nullopt);
  EXPECT_NE(Send(0, 1, kQuarter), std::nullopt);
  EXPECT_EQ(Send(1, 0, kQuarter), std::nullopt);
}

TEST_F(SwitchboardTest, BoundsWhatARankTells) {
  const std::vector<char> name(kMostHeld / 2);
  EXPECT_EQ(board_.Take(0, {Kind::kCompute, 0, name.size(), 1}, name), std::nullopt);
  EXPECT_NE(board_.Take(0, {Kind::kCompute, 0, name.size(), 1}, name), std::nullopt);
}

TEST_F(SwitchboardTest, SumsBesideTheWork) {
  for (int rank = 0; rank < 3; ++rank) {
    Compute(rank, rank);
    board_.Take(rank, {Kind::kStartSum}, Floats({1, 2, 3, static_cast<float>(rank)}));
    Compute(rank, 1);
  }
  board_.Take(0, {Kind::kWaitSum, 0, 16, 0}, {});
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].second, Floats({3, 6, 9, 3}));
  EXPECT_EQ(clock(0), 2 + 4 * (1 + 1.0 / 3));  // from the last one's start: 4 steps of a third
}

TEST_F(SwitchboardTest, NamesWhoHasNotBegunASum) {
  Compute(0, 3);
  board_.Take(0, {Kind::kStartSum}, Floats({1, 2}));
  EXPECT_EQ(board_.records()[0].sums.at(0).bytes, 8U);
  EXPECT_EQ(board_.records()[0].sums.at(0).at, 3);
  board_.Take(0, {Kind::kWaitSum, 0, 8, 0}, {});
  EXPECT_EQ(board_.Deadlock(), std::nullopt);
  board_.Take(1, {Kind::kResult}, {});
  Recv(2, 0, 1);
  EXPECT_EQ(board_.Deadlock(),
            "deadlock of 3 ranks: rank 0 waits for sum 0, which is not begun by rank 1 (it has "
            "ended), rank 2; rank 2 waits for rank 0");
}

TEST_F(SwitchboardTest, RefusesSumsOfOtherLengths) {
  board_.Take(0, {Kind::kStartSum}, Floats({1, 2}));
  EXPECT_EQ(board_.Take(1, {Kind::kStartSum}, Floats({1})),
            "sum 0 has 1 floats on rank 1 and 2 on rank 0: do all ranks begin the same sums in the "
            "same order?");
  board_.Take(0, {Kind::kWaitSum, 0, 8, 0}, {});
  EXPECT_NE(board_.Take(0, {Kind::kWaitSum, 0, 8, 1}, {}), std::nullopt);
}

}  // namespace
}  // namespace torus::tools::labs
