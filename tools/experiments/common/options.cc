#include "tools/experiments/common/options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

#include "runtime/error.h"
#include "tools/common/check_flags.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/user_path.h"

namespace torus::experiments {
namespace {

constexpr const char* kNames[] = {"tiny", "laptop", "paper"};

}  // namespace

Scale ScaleNamed(std::string_view name) {
  for (const Scale scale : {Scale::kTiny, Scale::kLaptop, Scale::kPaper})
    if (name == NameOf(scale)) return scale;
  Throw<BadInput>("experiment", "--scale must be one of {}, got {}", fmt::join(kNames, ", "), name);
}

const char* NameOf(Scale scale) { return kNames[static_cast<int>(scale)]; }

Options ParseOptions(const std::string& name, const std::string& about, int argc,
                     const char* const* argv, bool trains) {
  Options options;
  std::string scale = NameOf(options.scale);
  const char* const data = std::getenv("TORUS_DATA");
  if (data != nullptr) options.data = data;
  CLI::App app(about, name);
  app.add_option("--scale", scale,
                 "laptop: two cores; paper: the setting of the published study; tiny: a smoke test "
                 "whose figures mean nothing");
  app.add_option("--seeds", options.seeds,
                 "Number of seeds for every trained row; weights with which others start have one")
      ->check(CLI::Range(1, 1000));
  app.add_option("--out", options.out,
                 "Folder for results and pages; runs whose results are there are not repeated. "
                 "Default: experiments/NAME-SCALE");
  app.add_option("--data", options.data,
                 "Folder that has cifar10, glue, text, ... Default: $TORUS_DATA");
  app.add_flag("--dry-run", options.dry_run,
               "Print what would run, with memory and simulated time, and train nothing");
  options.help = tools::PrintsHelp(app, argc, argv);
  if (options.help) return options;
  options.scale = ScaleNamed(scale);
  tools::CheckFlags(name, tools::GivenBy(app), {{"trains", trains, "and this one only counts"}});
  if (options.out.empty()) options.out = "experiments/" + name + "-" + NameOf(options.scale);
  options.out = tools::UserPath(options.out);
  options.data = tools::UserPath(options.data);
  Require(!trains || options.data.empty() || std::filesystem::is_directory(options.data), name,
          "--data, or TORUS_DATA, must name a folder, got {}", options.data);
  tools::CheckOutputFolder(name, "--out", options.out);
  return options;
}

}  // namespace torus::experiments
