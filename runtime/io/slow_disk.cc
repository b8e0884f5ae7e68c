#include "runtime/io/slow_disk.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace torus::io {
namespace {

double FromEnvironment() {
  const char* const text = std::getenv("TORUS_SLOW_DISK");
  return text == nullptr ? -1 : std::atof(text);
}

std::atomic<double>& Rate() {
  static std::atomic<double> rate{FromEnvironment()};
  return rate;
}

}  // namespace

void EmulateDisk(double bytes_per_second) { Rate() = bytes_per_second; }

// A disk wakes the writer for each page or few that it has taken.
void WaitForEmulatedDisk(size_t bytes) {
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kLongest(0.005), kHanging(3600);
  const double rate = Rate();
  if (rate < 0) return;
  if (rate == 0)
    for (;;) std::this_thread::sleep_for(kHanging);
  for (Seconds left(static_cast<double>(bytes) / rate); left.count() > 0; left -= kLongest)
    std::this_thread::sleep_for(std::min(left, kLongest));
}

}  // namespace torus::io
