#include "runtime/stream.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus {
namespace {

TEST(Stream, OnACpuAllIsDoneAtOnce) {
  Stream stream, other;
  Event event;
  EXPECT_TRUE(event.IsDone());
  event.Record(stream);
  EXPECT_TRUE(event.IsDone());
  other.Wait(event);
  event.Wait();
  stream.Synchronize();
  EXPECT_EQ(stream.device(), Device{});
  EXPECT_EQ(stream.handle(), nullptr);
}

TEST(Stream, GpuThatIsNotThereIsNamed) {
  const Device none{DeviceKind::kCuda, GpuCount()};
  const std::string count = std::to_string(none.index);
  try {
    Stream stream(none);
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_EQ(std::string(e.what()),
              "[stream] there is no cuda:" + count + ": " + count + " GPUs can be used");
  }
  EXPECT_THROW(Event event(none), BadInput);
  EXPECT_THROW(Stream stream({DeviceKind::kCuda, -1}), BadInput);
}

TEST(CurrentStream, IsTheInnermostOfItsDevice) {
  EXPECT_EQ(CurrentStream({}), nullptr);
  const Stream stream;
  const WithStream with(stream);
  EXPECT_EQ(CurrentStream({}), stream.handle());
  EXPECT_EQ(CurrentStream({DeviceKind::kCuda, 3}), nullptr);
}

}  // namespace
}  // namespace torus
