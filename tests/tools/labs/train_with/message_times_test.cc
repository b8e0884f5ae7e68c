#include "tools/labs/train_with/message_times.h"

#include <gtest/gtest.h>

#include "tools/labs/train_with/ring_picture.h"
#include "tools/labs/train_with/ring_wire.h"

namespace torus::tools::labs {
namespace {

trace::Event Sum(int rank, int64_t step, int64_t begin, int64_t end) {
  return {"0reduce", "reduce", rank, begin, end, step};
}
trace::Event Message(int rank, const std::string& name, int64_t begin, int64_t end) {
  return {name, kRingCategory, rank, begin, end};
}

// A step of two ranks: each sends the other two messages, one after the other.
std::vector<trace::Event> Step(int64_t step, int64_t at, int64_t length) {
  std::vector<trace::Event> events{Sum(0, step, at, at + length),
                                   Sum(1, step, at + 10, at + length)};
  for (const int64_t i : {1, 2}) {
    const int64_t from = at + 20 * i;
    events.push_back(Message(0, "send 5 floats to rank 1", from, from + 1));
    events.push_back(Message(1, "send 5 floats to rank 0", from + 2, from + 3));
    events.push_back(Message(0, "receive 5 floats from rank 1", from + 4, from + 10));
    events.push_back(Message(1, "receive 5 floats from rank 0", from + 5, from + 11));
  }
  return events;
}

std::vector<trace::Event> operator+(std::vector<trace::Event> a,
                                    const std::vector<trace::Event>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(MessageTimes, PairsEachSendWithItsReceive) {
  const SumTimes times = MessagesOf(Step(4, 1000, 100), 2);
  EXPECT_EQ(times.step, 4);
  ASSERT_EQ(times.ranks.size(), 2u);
  EXPECT_DOUBLE_EQ(times.ranks[1].begin, 10e-9);
  EXPECT_DOUBLE_EQ(times.ranks[1].end, 100e-9);
  ASSERT_EQ(times.messages.size(), 4u);
  const MessageTime& second = times.messages[2];  // to rank 0
  EXPECT_EQ(second.from, 1);
  EXPECT_EQ(second.to, 0);
  EXPECT_EQ(second.floats, 5);
  EXPECT_DOUBLE_EQ(second.sent, 42e-9);
  EXPECT_DOUBLE_EQ(second.waits_from, 44e-9);
  EXPECT_DOUBLE_EQ(second.received, 50e-9);
}

TEST(MessageTimes, TakesTheShortestStep) {
  EXPECT_EQ(MessagesOf(Step(1, 1000, 150) + Step(2, 2000, 90) + Step(3, 3000, 120), 2).step, 2);
}

TEST(MessageTimes, TakesNoStepThatWasTracedInPart) {
  EXPECT_EQ(MessagesOf(Step(1, 1000, 100), 3).step, -1);
  std::vector<trace::Event> lacks = Step(1, 1000, 100);
  lacks.pop_back();
  EXPECT_EQ(MessagesOf(lacks, 2).step, -1);
  EXPECT_EQ(MessagesOf({}, 2).step, -1);
}

TEST(RingPicture, HasALineForEachMessage) {
  const std::string svg = RingPicture(MessagesOf(Step(4, 1000, 100), 2));
  size_t lines = 0;
  for (size_t at = svg.find("class=\"message\""); at != std::string::npos;
       at = svg.find("class=\"message\"", at + 1))
    ++lines;
  EXPECT_EQ(lines, 4u);
  EXPECT_NE(svg.find("5 floats from rank 1 to rank 0"), std::string::npos);
}

TEST(RingPicture, SaysHowManyMessagesItShows) {
  SumTimes times = MessagesOf(Step(4, 1000, 100), 2);
  EXPECT_EQ(MessagesShown(times), "4 messages");
  times.messages.resize(2000, times.messages[0]);
  EXPECT_EQ(MessagesShown(times), "2000 messages");
  times.messages.push_back(times.messages[0]);
  EXPECT_EQ(MessagesShown(times), "the first 2000 of 2001 messages");
}

}  // namespace
}  // namespace torus::tools::labs
