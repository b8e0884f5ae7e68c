// A link between two ranks, in one direction: what a message of some bytes takes.
#pragma once

#include <limits>
#include <string_view>

namespace torus::parallel {

struct LinkModel {
  double latency = 0;                                          // seconds, one way
  double bandwidth = std::numeric_limits<double>::infinity();  // bytes a second
  // Bytes that may be under way unacknowledged, as TCP's window: one window a round trip is the
  // most that a sender gets out, whatever the bandwidth.
  double window = std::numeric_limits<double>::infinity();
  // Seconds: a message comes later by up to this much, evenly distributed, but never before the one
  // sent before it.
  double jitter = 0;

  // Bytes a second.
  double Throughput() const {
    return latency > 0 && window / (2 * latency) < bandwidth ? window / (2 * latency) : bandwidth;
  }
  // Seconds for which the link carries nothing else.
  double Occupied(double bytes) const { return bytes / Throughput(); }
};

// "LATENCY,BANDWIDTH" with, in any order behind them, "window=BYTES" and "jitter=TIME":
// "10ms,1Gbps,window=64KB". Times in us, ms or s; bits a second in bps, Kbps, Mbps or Gbps (powers
// of 1000); bytes in B, KB, MB or GB (powers of 1024). BadInput for anything else, naming the part,
// and for times that are not from 0 to 1e6 s and bytes, or bytes a second, that are not from 1 to
// 1e18.
LinkModel ParseLink(std::string_view text);

}  // namespace torus::parallel
