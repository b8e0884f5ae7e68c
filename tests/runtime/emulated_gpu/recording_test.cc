#include <gtest/gtest.h>

#include <string>

#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"

namespace torus::emulated_gpu {
namespace {

class RecordedStream : public testing::Test {
 protected:
  void SetUp() override {
    SetCurrentDevice(0);
    stream_ = MakeStream();
    other_ = MakeStream();
    event_ = MakeEvent();
    BeginRecording(stream_);
  }
  void TearDown() override {
    DropRecording(stream_);
    WaitForDevice(0);
    DropEvent(event_);
    DropStream(other_);
    DropStream(stream_);
  }
  void Say(StreamHandle stream, const char* word) {
    Enqueue(stream, "say", [this, word] { said_ += word; });
  }
  void ExpectSpoilt() {
    EXPECT_THROW(EndRecording(stream_), BrokenEnvironment);
    Say(stream_, "on");  // the stream goes on
    WaitForStream(stream_);
    EXPECT_EQ(said_, "on");
  }

  StreamHandle stream_, other_;
  void* event_;
  std::string said_;
};

TEST_F(RecordedStream, RunsNothingUntilItIsReplayedAndThenAllInOrderEachTime) {
  Say(stream_, "1");
  Say(stream_, "2");
  const auto recording = EndRecording(stream_);
  WaitForStream(stream_);
  EXPECT_EQ(said_, "");
  Say(other_, "a");
  Replay(recording, other_);
  Say(other_, "b");
  Replay(recording, other_);
  EXPECT_EQ(said_, "");
  WaitForStream(other_);
  EXPECT_EQ(said_, "a12b12");
}

TEST_F(RecordedStream, ReplaysWhatItsOwnerHasDropped) {
  Say(stream_, "1");
  Replay(EndRecording(stream_), stream_);
  WaitForStream(stream_);
  EXPECT_EQ(said_, "1");
}

TEST_F(RecordedStream, LetsOtherStreamsBeGivenWork) {
  Say(other_, "other");
  const auto recording = EndRecording(stream_);
  EXPECT_TRUE(recording->empty());
  WaitForStream(other_);
  EXPECT_EQ(said_, "other");
}

TEST_F(RecordedStream, MayRecordEventsAndWaitForItsOwn) {
  Say(stream_, "1");
  RecordEvent(event_, stream_);
  StreamWaitsForEvent(stream_, event_);
  Say(stream_, "2");
  Replay(EndRecording(stream_), stream_);
  EXPECT_THROW(WaitForEvent(event_), BrokenEnvironment);
  EXPECT_THROW(EventIsDone(event_), BrokenEnvironment);
  EXPECT_THROW(StreamWaitsForEvent(other_, event_), BrokenEnvironment);
  RecordEvent(event_, stream_);
  WaitForEvent(event_);
  EXPECT_EQ(said_, "12");
}

TEST_F(RecordedStream, IsSpoiltByAWaitForAStream) {
  EXPECT_THROW(WaitForStream(other_), BrokenEnvironment);
  ExpectSpoilt();
}

TEST_F(RecordedStream, IsSpoiltByAWaitForAnEvent) {
  EXPECT_THROW(WaitForEvent(event_), BrokenEnvironment);
  ExpectSpoilt();
}

TEST_F(RecordedStream, IsSpoiltByAQuestionToAnEvent) {
  EXPECT_THROW(EventIsDone(event_), BrokenEnvironment);
  ExpectSpoilt();
}

TEST_F(RecordedStream, IsSpoiltByWaitingForWorkThatIsNotRecorded) {
  RecordEvent(event_, other_);
  EXPECT_THROW(StreamWaitsForEvent(stream_, event_), BrokenEnvironment);
  ExpectSpoilt();
}

TEST_F(RecordedStream, IsSpoiltByWorkThatWaitsForOtherThreads) {
  EXPECT_THROW(EnqueueWhenReady(
                   stream_, "receive", [] { return true; }, [] {}),
               BrokenEnvironment);
  ExpectSpoilt();
}

TEST_F(RecordedStream, IsOneOfAThreadAndNotTheDefaultOne) {
  EXPECT_THROW(BeginRecording(stream_), BrokenEnvironment);
  EXPECT_THROW(BeginRecording(other_), BrokenEnvironment);
  EndRecording(stream_);
  EXPECT_THROW(EndRecording(stream_), BrokenEnvironment);
  EXPECT_THROW(BeginRecording(nullptr), BrokenEnvironment);
}

}  // namespace
}  // namespace torus::emulated_gpu
