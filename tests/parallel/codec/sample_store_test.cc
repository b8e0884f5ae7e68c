// What delta remembers in files: rows come back, and runs go on from checkpoints.
#include "parallel/codec/sample_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"

namespace torus::parallel {
namespace {

using Values = std::vector<float>;

std::string PathOf(const std::string& name) {
  const std::string path = ::testing::TempDir() + "/samples " + name;
  std::filesystem::remove_all(path);
  return path + "/rows";
}

// Of the sample, or nothing.
Values Row(const SampleStore& store, int64_t sample, size_t width = 3) {
  Values row(width);
  return store.Read(sample, row) ? row : Values{};
}

TEST(SampleStore, GivesBackTheLastRowOfEachSample) {
  SampleStore store(PathOf("last"));
  Values identity;
  EXPECT_FALSE(store.is_open());
  store.Open(identity, 0);
  EXPECT_EQ(identity.size(), 4u);
  EXPECT_EQ(Row(store, 5), Values{});
  store.Write(5, 0, Values{1, 2, 3});
  store.Write(1 << 30, 0, Values{4, 5, 6});
  store.Write(5, 1, Values{7, 8, 9});
  EXPECT_EQ(Row(store, 5), (Values{7, 8, 9}));
  EXPECT_EQ(Row(store, 1 << 30), (Values{4, 5, 6}));
  EXPECT_EQ(Row(store, 6), Values{});
  EXPECT_EQ(store.rows(), 2);
}

TEST(SampleStore, KeepsRowsOfOneWidth) {
  SampleStore store(PathOf("width"));
  Values identity;
  store.Open(identity, 0);
  store.Write(1, 0, Values{1, 2, 3});
  store.Write(2, 0, Values{1, 2});
  EXPECT_EQ(Row(store, 2, 2), Values{});
  EXPECT_EQ(Row(store, 1, 2), Values{});
  EXPECT_EQ(store.rows(), 1);
}

TEST(SampleStore, ARunThatGoesOnForgetsTheRowsOfLaterSteps) {
  const std::string path = PathOf("later");
  Values identity;
  {
    SampleStore store(path);
    store.Open(identity, 0);
    for (int64_t sample = 0; sample < 6; ++sample)
      store.Write(sample, sample, Values{static_cast<float>(sample), 0, 0});
  }
  const Values same = identity;
  for (int time = 0; time < 2; ++time) {  // what is forgotten stays so
    SampleStore store(path);
    store.Open(identity, time == 0 ? 4 : 100);
    EXPECT_EQ(identity, same);
    EXPECT_EQ(store.rows(), 4);
    EXPECT_EQ(Row(store, 3), (Values{3, 0, 0}));
    EXPECT_EQ(Row(store, 4), Values{});
  }
  SampleStore store(path);
  store.Open(identity, 100);
  const uintmax_t size = std::filesystem::file_size(path);
  store.Write(70, 100, Values{7, 0, 0});
  store.Write(71, 100, Values{8, 0, 0});
  EXPECT_EQ(std::filesystem::file_size(path), size) << "their room is used again";
  EXPECT_EQ(Row(store, 71), (Values{8, 0, 0}));
}

Values RowOf(int64_t sample, int64_t step) {
  return {static_cast<float>(sample), static_cast<float>(step), 0};
}

void WriteRows(SampleStore& store, int64_t samples, int64_t step) {
  for (int64_t sample = 0; sample < samples; ++sample)
    store.Write(sample, step, RowOf(sample, step));
}

// The disk has what was synced, and of the rest whatever it had time for: nothing, all, or a part
// of the last row.
TEST(SampleStore, AfterACrashEachEndHasTheRowsOfTheCheckpoint) {
  const std::string path = PathOf("crash");
  Values identity;
  {
    SampleStore store(path);
    store.Open(identity, 0);
    WriteRows(store, 4, 0);
    store.Sync();
    std::filesystem::copy_file(path, path + " synced");
    for (int64_t step = 1; step < 4; ++step) WriteRows(store, 6, step);
  }
  std::filesystem::copy_file(path, path + " cut");
  std::filesystem::resize_file(path + " cut", std::filesystem::file_size(path) - 5);
  for (const char* end : {"", " synced", " cut"}) {
    SCOPED_TRACE(end);
    SampleStore store(path + end);
    store.Open(identity, 1);
    EXPECT_EQ(store.rows(), 4);
    for (int64_t sample = 0; sample < 4; ++sample)
      EXPECT_EQ(Row(store, sample), RowOf(sample, 0)) << sample;
  }
}

// The last one's, if it goes on from that.
TEST(SampleStore, KeepsTheRowsOfTheLastCheckpointInTwiceTheirRoom) {
  const std::string path = PathOf("checkpoints");
  Values identity;
  {
    SampleStore store(path);
    store.Open(identity, 0);
    WriteRows(store, 5, 0);
    store.Sync();
    const uintmax_t row = (std::filesystem::file_size(path) - 24) / 5;
    for (int64_t step = 1; step < 8; ++step) {
      WriteRows(store, 5, step);
      if (step % 2 == 0) store.Sync();
    }
    EXPECT_EQ(std::filesystem::file_size(path), 24 + 2 * 5 * row);
  }
  SampleStore store(path);
  store.Open(identity, 7);
  EXPECT_EQ(store.rows(), 5);
  for (int64_t sample = 0; sample < 5; ++sample) EXPECT_EQ(Row(store, sample), RowOf(sample, 6));
}

TEST(SampleStore, OfAnotherRunIsBegunAnew) {
  const std::string path = PathOf("other");
  Values identity;
  {
    SampleStore store(path);
    store.Open(identity, 0);
    store.Write(1, 0, Values{1, 2, 3});
  }
  Values none, strange{1, 2, 3, 4};
  for (Values* other : {&none, &strange}) {
    SampleStore store(path);
    store.Open(*other, 10);
    EXPECT_EQ(store.rows(), 0);
    EXPECT_NE(*other, identity);
    EXPECT_EQ(other->size(), 4u);
  }
  SampleStore store(path);
  Values wrong{1, 2};
  EXPECT_THROW(store.Open(wrong, 0), BadInput);
}

TEST(SampleStore, ADamagedRowIsNone) {
  const std::string path = PathOf("damaged");
  Values identity;
  {
    SampleStore store(path);
    store.Open(identity, 0);
    store.Write(1, 0, Values{1, 2, 3});
    store.Write(2, 0, Values{4, 5, 6});
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(24 + 24 + 5);  // behind both headers
    file.put('x');
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  SampleStore store(path);
  store.Open(identity, 9);
  EXPECT_EQ(Row(store, 1), Values{});
  EXPECT_EQ(Row(store, 2), Values{});
}

TEST(SampleStore, HasOneUserAtATime) {
  const std::string path = PathOf("shared");
  SampleStore one(path), two(path);
  Values identity;
  one.Open(identity, 0);
  EXPECT_THROW(two.Open(identity, 0), BadInput);
}

// Both ends of a link in files: the values of a link in memory.
TEST(SampleStore, ChangesNoValueOfDelta) {
  const auto codec = MakeCodec("delta(uniform:4)");
  SampleStore sent(PathOf("sent")), received(PathOf("received"));
  CodecMemory memory[2], in_files[2];
  const std::vector<int64_t> samples{4, 9};
  for (uint32_t visit = 0; visit < 4; ++visit) {
    const Values values = Draw("normal", 80, visit);
    CodecContext context{.shape = {2, 40}, .step = visit, .samples = samples};
    const auto send = [&](CodecMemory* ends, SampleStore* from, SampleStore* to) {
      context.memory = &ends[0];
      context.store = from;
      const std::vector<std::byte> bytes = EncodeIn(*codec, context, values);
      context.memory = &ends[1];
      context.store = to;
      return DecodeIn(*codec, context, bytes);
    };
    EXPECT_EQ(send(in_files, &sent, &received), send(memory, nullptr, nullptr)) << visit;
  }
  EXPECT_EQ(sent.rows(), 2);
  EXPECT_EQ(in_files[0].values.size(), 1u) << "which file it is, and nothing else";
}

}  // namespace
}  // namespace torus::parallel
