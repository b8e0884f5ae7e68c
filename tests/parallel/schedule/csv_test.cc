#include "parallel/schedule/csv.h"

#include <gtest/gtest.h>

#include <fstream>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/zero_bubble.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(Csv, ReadsWhatItWrites) {
  const Schedule schedule = ZeroBubbleH1({3, 5});
  const Schedule read = ScheduleFromCsv(ToCsv(schedule), "table");
  EXPECT_EQ(read.ranks, schedule.ranks);
  EXPECT_EQ(read.num_stages, 3);
  EXPECT_EQ(read.num_micro_batches, 5);
}

TEST(Csv, EmptyCellsAreIdleTime) {
  const Schedule read = ScheduleFromCsv("0F0,0F1,,0B0, ,0B1\r\n,1F0,1B0,1F1,1B1,\n\n", "table");
  EXPECT_EQ(ToCsv(read), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
}

void ExpectRefused(const std::string& text, const std::string& message) {
  try {
    ScheduleFromCsv(text, "t.csv");
    FAIL() << "accepted: " << text;
  } catch (const BadInput& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Csv, RefusesOtherCells) {
  for (const std::string cell : {"F0", "0F", "0X1", "0F-1", "0F1x", "99999999F0", "0 F0"})
    ExpectRefused("0F0\n1F0," + cell,
                  "[schedule] t.csv: line 2, cell 2 needs stage, one of F B I W, micro-batch, as "
                  "0F3; got \"" +
                      cell + "\"");
  ExpectRefused("", "[schedule] t.csv: has no action");
  ExpectRefused(",\n,", "[schedule] t.csv: has no action");
}

TEST(Csv, AFileMustBeForTheRun) {
  const std::string path = ::testing::TempDir() + "schedule.csv";
  std::ofstream(path) << "0F0,0B0\n1F0,1B0\n";
  EXPECT_EQ(ToText(MakeSchedule("csv:" + path, {2, 1})),
            "rank 0: 0F0 0sendA0>1 0recvG0<1 0B0 0reduce 0step\n"
            "rank 1: 1recvA0<0 1F0 1B0 1sendG0>0 1reduce 1step\n");
  try {
    MakeSchedule("csv:" + path, {2, 4});
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_EQ(std::string(error.what()),
              "[schedule] " + path +
                  ": is for 2 ranks, 2 stages and 1 micro-batches; the run has 2, 2 and 4");
  }
}

TEST(Csv, AFileThatCannotBeATableIsNamed) {
  const std::string path = ::testing::TempDir() + "empty.csv";
  std::ofstream(path).flush();
  const auto refusal = [](const std::string& file) -> std::string {
    try {
      MakeSchedule("csv:" + file, {2, 1});
    } catch (const BadInput& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal(path), "[schedule] " + path + ": has no action");
  EXPECT_EQ(refusal("/no/such/file"),
            "[schedule] cannot open /no/such/file: No such file or directory");
  EXPECT_EQ(refusal("/dev/zero"),
            "[schedule] /dev/zero: a table of a schedule may have at most 67108864 bytes, and this "
            "one has more");
}

// A table that cannot run is refused by the rules of every schedule.
TEST(Csv, AWrongTableIsRefused) {
  const std::string path = ::testing::TempDir() + "wrong.csv";
  std::ofstream(path) << "0F0,0F1,0B1,0B0\n";
  EXPECT_THROW(MakeSchedule("csv:" + path, {1, 2}), BadInput);
}

}  // namespace
}  // namespace torus::parallel
