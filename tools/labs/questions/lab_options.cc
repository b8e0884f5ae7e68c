#include "tools/labs/questions/lab_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "parallel/link/link_table.h"
#include "recipes/run/check_options.h"
#include "runtime/error.h"
#include "tools/common/check_flags.h"
#include "tools/common/flag_table.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/user_path.h"

namespace torus::labs {
namespace {

// What --quick uses of the data: each lab then takes less than five minutes on two cores.
constexpr int64_t kQuickImages = 4096, kQuickTestImages = 1024;

void AddRunFlags(CLI::App& app, LabOptions& o) {
  recipes::Settings& s = o.settings;
  app.add_option("--data-dir", s.data_dir,
                 "Folder that has cifar-10-batches-bin. Default: $TORUS_DATA/cifar10");
  app.add_option("--model", s.model, "Model to train");
  app.add_option("--data", s.data, "Dataset");
  app.add_option("--device", s.device, "cpu or cuda");
  app.add_option("--lr", s.lr,
                 "Learning rate; for the smallest batch if it is scaled with the batch");
  app.add_option("--seed", s.seed, "Seed for weights, shuffling and augmentation");
}

void AddSizeFlags(CLI::App& app, LabOptions& o) {
  app.add_option("--batches", o.batches, "Samples per rank and step: 32,128,512")->delimiter(',');
  app.add_option("--ranks", o.ranks, "Ranks, in ascending order: 1,2,4")->delimiter(',');
  app.add_option(
      "--small-batch", o.small_batch,
      "Batch size of the run on one rank that is compared with the largest batch on all ranks");
  app.add_option("--epochs", o.epochs,
                 "Number of epochs, for questions that train for whole epochs");
  app.add_option("--steps", o.steps, "Number of steps, for questions that train for some steps");
  app.add_option("--images", o.images, "Use only the first N training images; 0: all");
  app.add_option("--test-images", o.test_images, "Use only the first N test images; 0: all");
  app.add_option("--rank-threads", o.rank_threads, "Threads of each rank");
  app.add_option("--memory-limit", o.memory_limit,
                 "Limit for the memory of all tensors together, such as 2GB; q1 stops there. "
                 "Default on a CPU: 3GB, with --quick 1GB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 60));
  app.add_option(
      "--link", o.links,
      "Emulated links between ranks, such as 1ms,1Gbps, in runs on several ranks. Default: "
      "none");
}

constexpr int64_t kMostSamples = 1 << 24, kMostRanks = 1024, kMostOfOthers = 1 << 20;

void CheckCounts(const std::string& name, const char* flag, const std::vector<int64_t>& values,
                 int64_t most) {
  const bool ascending =
      std::ranges::adjacent_find(values, std::ranges::greater_equal()) == values.end();
  Require(!values.empty() && ascending && values.front() >= 1 && values.back() <= most, name,
          "{} must be ascending numbers from 1 to {}, got {}", flag, most, fmt::join(values, ","));
}

// The contexts of the table of flags that concern labs.
std::vector<tools::HereOrNot> ContextsOf(const std::string& name) {
  const auto of = [&](const char* context, std::string_view labs) {
    return tools::HereOrNot{context, std::ranges::count(tools::Words(labs), name) > 0,
                            "and this is " + name};
  };
  return {of("whole-epochs", "q4_1 q4_2 q5"),
          of("some-steps", "q7"),
          of("two-batches", "q4_1 q4_2"),
          of("tests", "q4_1 q4_2 q5 q6"),
          of("full-memory", "q1"),
          of("several-ranks", "q2 q3_1 q3_2 q4_1 q4_2 q5 q6 q7")};
}

// The flags of the largest run, and the links of all: a question does not come to its last run to
// find them wrong.
void CheckRuns(const std::string& name, const LabOptions& o) {
  const int64_t most = o.ranks.back();
  recipes::RunOptions run{.settings = ForRanks(o, o.batches.back(), most)};
  run.settings.links = LinksOf(o, most);
  try {
    recipes::CheckedOptions(std::move(run));
  } catch (const BadInput& error) {  // which says that train refuses it
    constexpr std::string_view kTrain = "[train] ";
    std::string_view message = error.what();
    if (!message.starts_with(kTrain)) throw;
    message.remove_prefix(kTrain.size());
    Throw<BadInput>(name, "{}", message);
  }
  const int named = parallel::ParseLinks(o.links).largest_rank();
  for (const int64_t ranks : o.ranks)
    Require(ranks == 1 || named < ranks, name, "--link names rank {}, but a run has {} ranks",
            named, ranks);
}

// Values that a question would not use.
void CheckOnlyOne(const std::string& name, const CLI::App& app, const char* flag,
                  const std::vector<int64_t>& values) {
  Require(app.count(flag) == 0 || values.size() == 1, name,
          "{} takes one number, for this question runs with one, got {}", flag,
          fmt::join(values, ","));
}

void CheckLists(const std::string& name, const CLI::App& app, const LabOptions& o) {
  const auto is_one_of = [&](std::string_view labs) {
    return std::ranges::count(tools::Words(labs), name) > 0;
  };
  if (is_one_of("q4_1 q4_2 q5 q6 q7")) {
    CheckOnlyOne(name, app, "--batches", o.batches);
    CheckOnlyOne(name, app, "--ranks", o.ranks);
  }
}

void Check(const std::string& name, const LabOptions& o) {
  CheckCounts(name, "--batches", o.batches, kMostSamples);
  CheckCounts(name, "--ranks", o.ranks, kMostRanks);
  using Count = std::pair<const char*, int64_t>;
  for (const auto& [flag, value] :
       {Count{"--epochs", o.epochs}, Count{"--steps", o.steps},
        Count{"--rank-threads", o.rank_threads}, Count{"--small-batch", o.small_batch}})
    Require(value >= 1 && value <= kMostOfOthers, name, "{} must be from 1 to {}, got {}", flag,
            kMostOfOthers, value);
  for (const auto& [flag, value] :
       {Count{"--images", o.images}, Count{"--test-images", o.test_images}})
    Require(value >= 0, name, "{} must be at least 0, got {}", flag, value);
  CheckRuns(name, o);
}

void Complete(LabOptions& o) {
  if (o.quick && o.images == 0) o.images = kQuickImages;
  if (o.quick && o.test_images == 0) o.test_images = kQuickTestImages;
  o.out = tools::UserPath(o.out);
  o.settings.data_dir = tools::UserPath(o.settings.data_dir);
}

}  // namespace

// The usual recipe for CIFAR-10 (momentum 0.9, decay 5e-4, flips and crops), with a learning rate
// at which ResNet-18 learns from its first steps on.
LabOptions::LabOptions() {
  settings.model = "resnet18";
  settings.data = "cifar10";
  settings.drop_last = true;
  settings.micro_batches = 1;
  settings.collectives = "ring";
  settings.lr = 0.02;
  settings.weight_decay = 5e-4;
  settings.lr_schedule = "constant";
  settings.warmup = 0;
  settings.nesterov = false;
  settings.augment = "crop-flip";
}

bool ParseLabFlags(const std::string& name, const std::string& about, int argc,
                   const char* const* argv, LabOptions& o) {
  if (o.out.empty()) o.out = "labs/" + name;
  CLI::App app(about, name);
  app.add_flag(
      "--quick", o.quick,
      fmt::format("Use {} training and {} test images: less than five minutes on two cores",
                  kQuickImages, kQuickTestImages));
  app.add_flag("--blank", o.blank, "Write the blank report, and run nothing");
  app.add_option("--out", o.out, "Folder for the page and the report");
  AddRunFlags(app, o);
  AddSizeFlags(app, o);
  if (tools::PrintsHelp(app, argc, argv)) return true;
  tools::CheckFlags(name, tools::GivenBy(app), ContextsOf(name));
  CheckLists(name, app, o);
  Check(name, o);
  Complete(o);
  tools::CheckOutputFolder(name, "--out", o.out);
  return false;
}

void FindData(const std::string& name, LabOptions& o) {
  recipes::Settings& s = o.settings;
  if (!s.data_dir.empty() || s.data != "cifar10") return;
  const char* const data = std::getenv("TORUS_DATA");
  const std::string folder = fmt::format("{}/cifar10", data == nullptr ? "" : data);
  const bool found = data != nullptr && std::filesystem::is_directory(folder);
  Require(found, name,
          "needs the images of CIFAR-10, binary version (cs.toronto.edu/~kriz/cifar.html): give "
          "--data-dir FOLDER, the one with cifar-10-batches-bin, or set TORUS_DATA to the folder "
          "of a folder cifar10, got TORUS_DATA \"{}\"",
          data == nullptr ? "" : data);
  s.data_dir = folder;
}

std::vector<std::string> LinksOf(const LabOptions& o, int64_t ranks) {
  return ranks > 1 ? o.links : std::vector<std::string>();
}

recipes::Settings ForRanks(const LabOptions& o, int64_t batch, int64_t ranks) {
  recipes::Settings s = o.settings;
  s.replicas = ranks;
  s.batch_size = batch * ranks;
  s.threads = o.rank_threads * ranks;
  return s;
}

}  // namespace torus::labs
