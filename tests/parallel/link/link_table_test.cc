#include "parallel/link/link_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

LinkTable Parse(const std::vector<std::string>& specs) { return ParseLinks(specs); }

TEST(LinkTable, WithoutSpecsNothingTakesTime) {
  EXPECT_EQ(Parse({}).Get(0, 1).latency, 0);
  EXPECT_EQ(Parse({}).Get(0, 1).Occupied(1e9), 0);
  EXPECT_EQ(Parse({}).largest_rank(), -1);
}

TEST(LinkTable, OneForAllOnePairAndOneDirection) {
  const LinkTable table = Parse({"1ms,1Gbps", "0-1:2ms,1Gbps", "1>0:3ms,1Gbps"});
  EXPECT_EQ(table.Get(0, 1).latency, 0.002);
  EXPECT_EQ(table.Get(1, 0).latency, 0.003);
  EXPECT_EQ(table.Get(1, 2).latency, 0.001);
  EXPECT_EQ(table.largest_rank(), 1);
}

TEST(LinkTable, ALaterOneForAllReplacesWhatCameBefore) {
  EXPECT_EQ(Parse({"0-1:2ms,1Gbps", "1ms,1Gbps"}).Get(0, 1).latency, 0.001);
}

TEST(LinkTable, RefusesWhatNamesNoTwoRanks) {
  for (const std::string ends :
       {"", "0", "0-", "-1-0", "0-0", "a-b", "0-1-2", "0<1", "99999999-1"}) {
    try {
      Parse({ends + ":1ms,1Gbps"});
      ADD_FAILURE() << "accepted: " << ends;
    } catch (const BadInput& error) {
      EXPECT_EQ(std::string(error.what()).find("[--link] \"" + ends + ":1ms,1Gbps\" must begin"),
                0u)
          << error.what();
    }
  }
  EXPECT_THROW(Parse({"0-1:"}), BadInput);
}

}  // namespace
}  // namespace torus::parallel
