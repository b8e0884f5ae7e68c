// The command line of an experiment.
#pragma once

#include <string>
#include <string_view>

namespace torus::experiments {

enum class Scale {
  kTiny,    // a smoke test: every run is a few steps of a small model; results mean nothing
  kLaptop,  // two cores, at most an hour, with the data that are available
  kPaper    // the published setting, for a cluster of GPUs
};

// Of "tiny", "laptop" or "paper". Throws BadInput, listing them, for another name.
Scale ScaleNamed(std::string_view name);
const char* NameOf(Scale scale);

struct Options {
  Scale scale = Scale::kLaptop;
  int seeds = 3;
  std::string out;   // the folder of results and pages
  std::string data;  // holds cifar10, glue, text, ... ; empty: no data
  bool dry_run = false;
  bool help = false;  // help was printed; the program should end
};

// Reads --scale, --seeds, --out, --data and --dry-run. `out` defaults to experiments/NAME-SCALE in
// the user's folder, `data` to $TORUS_DATA. Throws BadInput, in one line, for a mistake, also if
// there is no such folder of data; an experiment that does not train takes only --out and
// --dry-run, and looks at no data.
Options ParseOptions(const std::string& name, const std::string& about, int argc,
                     const char* const* argv, bool trains = true);

}  // namespace torus::experiments
