#include "tools/labs/questions/link_peak.h"

#include <algorithm>
#include <cmath>

#include "parallel/link/link_table.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/trace.h"

namespace torus::labs {
namespace {

using parallel::Tag;
using parallel::TagClass;
using parallel::Transport;

constexpr size_t kBytes = size_t{32} << 20;
constexpr int kMessages = 8;

// Seconds of one message, on both ranks: from the moment when both are ready until it has arrived.
double SecondsOf(Transport& ranks, std::vector<char>& data) {
  const int peer = 1 - ranks.rank();
  char ready = 1, there = 0;
  parallel::Pending in = ranks.Recv(peer, {TagClass::kControl, 0}, {&there, 1}, "readiness");
  parallel::Pending out = ranks.Send(peer, {TagClass::kControl, 0}, {&ready, 1}, "readiness");
  in.Wait();
  out.Wait();
  const int64_t begin = trace::Now();
  const Tag tag{TagClass::kUser, 0};
  if (ranks.rank() == 0)
    ranks.Send(peer, tag, {data.data(), data.size()}, "timed message").Wait();
  else
    ranks.Recv(peer, tag, {data.data(), data.size()}, "timed message").Wait();
  return static_cast<double>(trace::Now() - begin) * 1e-9;
}

double Measured() {
  double best = 0;
  parallel::ThreadWorld(2).Run([&best](Transport& ranks) {
    std::vector<char> data(kBytes, 'x');
    for (int i = 0; i < kMessages; ++i) {
      const double seconds = SecondsOf(ranks, data);
      if (ranks.rank() == 1) best = std::max(best, static_cast<double>(kBytes) / seconds);
    }
  });
  return best;
}

}  // namespace

double LinkPeak(const std::vector<std::string>& links) {
  const double emulated = parallel::ParseLinks(links).Get(0, 1).Throughput();
  return std::isfinite(emulated) ? emulated : Measured();
}

}  // namespace torus::labs
