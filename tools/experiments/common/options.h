// What the command line of an experiment says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::experiments {

enum class Scale {
  kTiny,    // a smoke test: every run a few steps of a small model; its figures mean nothing
  kLaptop,  // two cores, at most an hour, the data at hand
  kPaper    // the study's own setting, for a cluster of GPUs
};

std::vector<std::string> ScaleNames();  // "tiny", "laptop", "paper"
// BadInput, listing them, for another.
Scale ScaleNamed(std::string_view name);
const char* NameOf(Scale scale);

struct Options {
  Scale scale = Scale::kLaptop;
  int seeds = 3;
  std::string out;   // the folder of results and pages
  std::string data;  // holds cifar10, glue, text, ... ; empty: none is at hand
  bool dry_run = false;
  bool help = false;  // was printed; nothing else is to be done
};

// Reads --scale, --seeds, --out, --data and --dry-run. `out` is experiments/NAME-SCALE where the
// user stands unless it is given; `data` that of $TORUS_DATA. BadInput in one line for a mistake.
Options ParseOptions(const std::string& name, const std::string& about, int argc,
                     const char* const* argv);

}  // namespace torus::experiments
