#include "runtime/emulated_gpu/queues.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::emulated_gpu {
namespace {

class Queues : public testing::Test {
 protected:
  void SetUp() override {
    SetCurrentDevice(0);
    a_ = MakeStream();
    b_ = MakeStream();
    event_ = MakeEvent();
  }
  void TearDown() override {
    DropEvent(event_);
    DropStream(b_);
    DropStream(a_);
    WaitForDevice(0);
  }
  void Say(StreamHandle stream, const char* word) {
    Enqueue(stream, "say", [this, word] { said_ += word; });
  }

  StreamHandle a_, b_;
  void* event_;
  std::string said_;
};

TEST_F(Queues, WorkRunsWhenItIsWaitedForInOrder) {
  Say(a_, "1");
  Say(a_, "2");
  EXPECT_EQ(said_, "");
  WaitForStream(a_);
  EXPECT_EQ(said_, "12");
}

// A host that waits for a long step is alive, piece by piece.
TEST_F(Queues, EachPieceIsProgressOfTheThreadThatWaits) {
  ProgressCounter counter;
  SetProgressCounter(&counter);
  for (int i = 0; i < 5; ++i) Say(a_, "1");
  const uint64_t before = counter.ticks;
  WaitForStream(a_);
  RecordEvent(event_, a_);
  Say(a_, "2");
  WaitForEvent(event_);
  SetProgressCounter(nullptr);
  EXPECT_EQ(before, 0u);
  EXPECT_EQ(counter.ticks, 5u);
}

TEST_F(Queues, OtherStreamsAreNotWaitedFor) {
  Say(a_, "a");
  Say(nullptr, "default");
  Say(b_, "b");
  WaitForStream(b_);
  EXPECT_EQ(said_, "b");
  WaitForStream(nullptr);
  EXPECT_EQ(said_, "bdefault");
}

TEST_F(Queues, AnEventIsWhatWasThereWhenItWasRecorded) {
  Say(a_, "1");
  RecordEvent(event_, a_);
  Say(a_, "2");
  Say(b_, "x");
  StreamWaitsForEvent(b_, event_);
  Say(b_, "y");
  RecordEvent(event_, a_);  // the stream waits for what it stood for
  WaitForStream(b_);
  EXPECT_EQ(said_, "x1y");
  WaitForEvent(event_);
  EXPECT_EQ(said_, "x1y2");
}

TEST_F(Queues, WhoAsksOftenEnoughGetsToTheEnd) {
  EXPECT_TRUE(EventIsDone(event_));
  Say(a_, "1");
  Say(a_, "2");
  RecordEvent(event_, a_);
  EXPECT_FALSE(EventIsDone(event_));
  EXPECT_FALSE(EventIsDone(event_));
  EXPECT_TRUE(EventIsDone(event_));
  EXPECT_EQ(said_, "12");
}

TEST_F(Queues, AnErrorComesOutWhereItIsWaitedForOnce) {
  Enqueue(a_, "fail", [] { throw std::runtime_error("work"); });
  Say(a_, "after");
  EXPECT_THROW(WaitForStream(a_), std::runtime_error);
  WaitForStream(a_);
  EXPECT_EQ(said_, "after");
}

TEST_F(Queues, WaitingForADeviceRunsAllBeforeItThrows) {
  Enqueue(a_, "fail", [] { throw std::runtime_error("work"); });
  Say(a_, "a");
  Say(nullptr, "d");
  EXPECT_THROW(WaitForDevice(0), std::runtime_error);
  EXPECT_EQ(said_, "ad");
}

TEST_F(Queues, ADestroyedStreamKeepsItsWork) {
  StreamHandle stream = MakeStream();
  Say(stream, "late");
  RecordEvent(event_, stream);
  DropStream(stream);
  EXPECT_THROW(Enqueue(stream, "say", [] {}), BrokenEnvironment);
  WaitForEvent(event_);
  EXPECT_EQ(said_, "late");
  stream = MakeStream();
  Say(stream, "r");
  DropStream(stream);
  WaitForDevice(0);
  EXPECT_EQ(said_, "later");
}

TEST_F(Queues, DevicesAreHeldApart) {
  SetCurrentDevice(1);
  EXPECT_THROW(Enqueue(a_, "say", [] {}), BrokenEnvironment);
  StreamHandle other = MakeStream();
  EXPECT_EQ(DeviceOf(other), 1);
  EXPECT_THROW(RecordEvent(event_, other), BrokenEnvironment);
  Say(other, "1");
  WaitForDevice(0);
  EXPECT_EQ(said_, "");
  WaitForDevice(1);
  EXPECT_EQ(said_, "1");
  DropStream(other);
  EXPECT_THROW(SetCurrentDevice(2), BrokenEnvironment);
}

}  // namespace
}  // namespace torus::emulated_gpu
