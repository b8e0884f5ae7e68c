#include "parallel/link/link_model.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(ParseLink, ReadsLatencyAndBandwidth) {
  const LinkModel link = ParseLink("10ms,1Gbps");
  EXPECT_DOUBLE_EQ(link.latency, 0.01);
  EXPECT_DOUBLE_EQ(link.bandwidth, 1.25e8);
  EXPECT_EQ(link.window, LinkModel().window);
  EXPECT_EQ(link.jitter, 0);
}

TEST(ParseLink, ReadsWindowAndJitterInAnyOrder) {
  for (const char* text :
       {"50us,100Mbps,window=64KB,jitter=1ms", "50us,100Mbps,jitter=1ms,window=64KB"}) {
    const LinkModel link = ParseLink(text);
    EXPECT_DOUBLE_EQ(link.latency, 50e-6);
    EXPECT_DOUBLE_EQ(link.bandwidth, 1.25e7);
    EXPECT_DOUBLE_EQ(link.window, 65536);
    EXPECT_DOUBLE_EQ(link.jitter, 1e-3);
  }
}

TEST(ParseLink, TakesTheEndsOfEachRange) {
  EXPECT_EQ(ParseLink("0us,8bps").bandwidth, 1);
  EXPECT_EQ(ParseLink("1000000s,8e9Gbps").latency, 1e6);
  EXPECT_EQ(ParseLink("1ms,8e18bps,window=1B,jitter=1e6s").bandwidth, 1e18);
  EXPECT_EQ(ParseLink("1ms,1Gbps,window=1e18B").window, 1e18);
}

TEST(ParseLink, RefusesWhatIsNoLink) {
  for (const std::string text : {"",
                                 "10ms",
                                 "10ms,",
                                 "10,1Gbps",
                                 "10ms,1",
                                 "10ms,0Gbps",
                                 "-1ms,1Gbps",
                                 "nanms,1Gbps",
                                 "1e999s,1Gbps",
                                 "10ms,1GBps",
                                 "10ms,1Gbps,64KB",
                                 "10ms,1Gbps,window=0B",
                                 "10ms,1Gbps,window=64",
                                 "10ms,1Gbps,loss=1",
                                 "10ms 1Gbps",
                                 "1Gbps,10ms",
                                 "10ms,7bps",
                                 "10ms,8.1e9Gbps",
                                 "10ms,1e999Gbps",
                                 "1e7s,1Gbps",
                                 "1000001s,1Gbps",
                                 "infs,1Gbps",
                                 "10ms,infGbps",
                                 "10ms,nanGbps",
                                 "10ms,1Gbps,window=0.5B",
                                 "10ms,1Gbps,window=1e10GB",
                                 "10ms,1Gbps,window=-1KB",
                                 "10ms,1Gbps,jitter=-1ms",
                                 "10ms,1Gbps,jitter=1e7s",
                                 "10ms,1Gbps,jitter=1e300us"}) {
    try {
      ParseLink(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const BadInput& error) {
      EXPECT_NE(std::string(error.what()).find("\"" + text + "\""), std::string::npos)
          << error.what();
    }
  }
}

TEST(ParseLink, SaysWhichPartIsWrong) {
  try {
    ParseLink("10ms,fast");
    ADD_FAILURE() << "accepted";
  } catch (const BadInput& error) {
    EXPECT_STREQ(
        error.what(),
        "[--link] a bandwidth must be a number and one of Kbps, Mbps, Gbps, bps, from 8 to "
        "8e18 bps, got \"fast\" in \"10ms,fast\"");
  }
}

}  // namespace
}  // namespace torus::parallel
