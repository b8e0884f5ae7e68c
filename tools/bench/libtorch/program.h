// The common frame of the programs that compare Torus with libtorch: their arguments and their
// clock. It includes neither of the two and is counted on neither side.
//   PROGRAM --nothing    makes one tensor and ends
//   PROGRAM FOLDER       works on the files of FOLDER, and prints "median step N us" at the end
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace beside_libtorch {

class Program {
 public:
  // Ends the process after `nothing` where the argument is --nothing.
  Program(int argc, char** argv, void (*nothing)()) {
    if (argc != 2) {
      std::fprintf(stderr, "usage: %s --nothing | FOLDER\n", argv[0]);
      std::exit(2);
    }
    if (std::string_view(argv[1]) == "--nothing") {
      nothing();
      std::exit(0);
    }
    folder_ = argv[1];
    ended_ = Clock::now();
  }
  // Prints the median of the steps, without the first ones, which warm up.
  ~Program() {
    if (seconds_.size() <= kWarmUp) return;
    const auto first = seconds_.begin() + kWarmUp;
    const auto middle = first + (seconds_.end() - first) / 2;
    std::nth_element(first, middle, seconds_.end());
    std::printf("median step %.1f us\n", 1e6 * *middle);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // A file of the folder.
  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  // A step has ended. What lies between two steps is the later one's time.
  void Step() {
    const auto now = Clock::now();
    seconds_.push_back(std::chrono::duration<double>(now - ended_).count());
    ended_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kWarmUp = 3;
  std::string folder_;
  std::vector<double> seconds_;
  Clock::time_point ended_;
};

}  // namespace beside_libtorch

using beside_libtorch::Program;  // NOLINT
