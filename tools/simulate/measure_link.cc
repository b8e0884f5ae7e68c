#include "tools/simulate/measure_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "parallel/transport/emulated_link.h"
#include "runtime/error.h"

namespace torus::tools {
namespace {

using parallel::Tag;
using parallel::TagClass;
using parallel::Transport;

constexpr Tag kData{TagClass::kUser, 0}, kReady{TagClass::kControl, 0},
    kBegin{TagClass::kControl, 1};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Timed messages go over `link`; messages that synchronize the two ranks go over `world`, without
// delay.
class Meter {
 public:
  Meter(Transport& world, Transport& link, size_t bytes)
      : world_(world), link_(link), data_(bytes, 'x') {}

  // Seconds on rank 1, 0 on rank 0.
  double Once() { return world_.rank() == 0 ? Sent() : Received(); }

 private:
  double Sent() {
    char ready = 0;
    world_.Recv(1, kReady, {&ready, 1}, "readiness").Wait();
    const double begin = Now();
    link_.Send(1, kData, {data_.data(), data_.size()}, "timed message").Wait();
    world_.Send(1, kBegin, {&begin, sizeof begin}, "time of a send").Wait();
    return 0;
  }

  double Received() {
    const char ready = 1;
    double begin = 0;
    parallel::Pending data = link_.Recv(0, kData, {data_.data(), data_.size()}, "timed message");
    world_.Send(0, kReady, {&ready, 1}, "readiness").Wait();
    data.Wait();
    const double end = Now();
    world_.Recv(0, kBegin, {&begin, sizeof begin}, "time of a send").Wait();
    return end - begin;
  }

  Transport &world_, &link_;
  std::vector<char> data_;
};

// As many as take about two seconds, but 3 to 21.
int RepeatsOf(double seconds) { return std::clamp(static_cast<int>(2 / seconds), 3, 21) | 1; }

}  // namespace

std::vector<LinkTime> MeasureLinks(Transport& world, const std::vector<std::string>& links,
                                   const std::vector<size_t>& sizes) {
  Require(world.size() >= 2, "link", "needs two ranks to time a message, got {}", world.size());
  std::vector<LinkTime> all;
  if (world.rank() > 1) return all;
  for (const std::string& name : links) {
    const parallel::LinkModel model = parallel::ParseLink(name);
    for (const size_t bytes : sizes) {
      parallel::EmulatedLink link(world, parallel::LinkTable(model));
      const double expected = model.Occupied(static_cast<double>(bytes)) + model.latency;
      Meter meter(world, link, bytes);
      std::vector<double> times;
      for (int i = RepeatsOf(expected); i > 0; --i) times.push_back(meter.Once());
      std::ranges::nth_element(times, times.begin() + std::ssize(times) / 2);
      if (world.rank() == 1) all.push_back({name, bytes, expected, times[times.size() / 2]});
    }
  }
  return all;
}

void PrintLinks(Transport& world, std::ostream& out) {
  std::vector<size_t> sizes;
  for (size_t bytes = 1 << 10; bytes <= size_t{64} << 20; bytes *= 4) sizes.push_back(bytes);
  double worst = 0;
  for (const LinkTime& time : MeasureLinks(world,
                                           {"1ms,5Gbps", "10ms,1Gbps", "50ms,100Mbps",
                                            "5ms,2Gbps,window=64KB", "50ms,1Gbps,window=3MB"},
                                           sizes)) {
    const double error = time.measured / time.expected - 1;
    out << fmt::format("{:<24} {:>9} B  expected {:>9.6f} s  measured {:>9.6f} s  {:>+6.2f} %\n",
                       time.link, time.bytes, time.expected, time.measured, 100 * error);
    worst = std::max(worst, std::abs(error));
  }
  if (world.rank() == 1) out << fmt::format("at most {:.2f} % from the model\n", 100 * worst);
}

}  // namespace torus::tools
