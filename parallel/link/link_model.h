// LinkModel: one direction of a link between two ranks; says how long a message takes.
#pragma once

#include <limits>
#include <string_view>

namespace torus::parallel {

struct LinkModel {
  double latency = 0;                                          // seconds, one way
  double bandwidth = std::numeric_limits<double>::infinity();  // bytes a second
  // Bytes that may be in flight unacknowledged, as TCP's window: whatever the bandwidth, a sender
  // sends at most one window per round trip.
  double window = std::numeric_limits<double>::infinity();
  // Seconds: each message is delayed by up to this much, uniformly distributed, but never arrives
  // before the previous one.
  double jitter = 0;

  // Bytes a second.
  double Throughput() const {
    return latency > 0 && window / (2 * latency) < bandwidth ? window / (2 * latency) : bandwidth;
  }
  // Seconds for which the link carries nothing else.
  double Occupied(double bytes) const { return bytes / Throughput(); }
};

// Parses "LATENCY,BANDWIDTH", optionally followed by "window=BYTES" and "jitter=TIME" in any order:
// "10ms,1Gbps,window=64KB". Times are in us, ms or s; bandwidths in bps, Kbps, Mbps or Gbps (bits
// per second, powers of 1000); bytes in B, KB, MB or GB (powers of 1024). Throws BadInput, naming
// the part, for anything else, for times outside 0 to 1e6 s, and for bytes, or bytes per second,
// outside 1 to 1e18.
LinkModel ParseLink(std::string_view text);

}  // namespace torus::parallel
