#include "tools/labs/train_with/ring_flags.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "runtime/error.h"
#include "tools/common/user_path.h"
#include "tools/labs/train_with/ring_training.h"
#include "tools/train/invocation.h"

namespace torus::tools::labs {
namespace {

constexpr int64_t kReplicas = 4, kSteps = 40, kWarmup = 10;
constexpr double kTimeout = 20;  // seconds

constexpr char kAbout[] =
    "Trains with a ring of your own: train_with --ring my_ring.cc [FLAGS]. The file is the one of "
    "the exercise \"ring\": its AllReduceMean sums the gradients of --replicas (4) ranks for "
    "--max-steps (40) steps; then the trainer's own ring does the same, and a page shows both. "
    "Exit status: 0 if its sums are right; 3 if not; 2 if it threw; 1 if it crashed or did not "
    "come back. "
    "FLAGS are those of train:\n\n";

// The arguments without --ring FILE, which go to `file`.
std::vector<const char*> TakeRing(int argc, const char* const* argv, std::string& file) {
  std::vector<const char*> rest;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--ring") {
      Require(i + 1 < argc, "ring", "--ring needs a file");
      file = argv[++i];
    } else if (word.starts_with("--ring=")) {
      file = word.substr(7);
    } else {
      rest.push_back(argv[i]);
    }
  }
  return rest;
}

// A preset's stages, and the codec between them, give way: the ring is of whole models.
void SetDefaults(Invocation& invocation) {
  recipes::Settings& s = invocation.settings;
  const auto missing = [&](const char* flag) { return !invocation.given.contains(flag); };
  if (missing("--stages") && missing("--cut")) s.stages = 1;
  if (missing("--micro-batches") && s.stages == 1) s.micro_batches = 1;
  if (missing("--replicas")) s.replicas = kReplicas;
  if (missing("--timeout")) invocation.timeout = kTimeout;
  if (!missing("--max-steps") || !missing("--epochs")) return;
  invocation.max_steps = kSteps;
  if (missing("--warmup")) s.warmup = kWarmup;
}

// `name`, or the first of name-2, name-3, ... that is not there yet.
std::string NewFolder(const std::string& name) {
  std::string folder = name;
  for (int i = 2; std::filesystem::exists(folder); ++i) folder = fmt::format("{}-{}", name, i);
  return folder;
}

}  // namespace

RingFlags ParseRingFlags(int argc, const char* const* argv) {
  RingFlags flags;
  const std::vector<const char*> rest = TakeRing(argc, argv, flags.file);
  Invocation invocation = ParseInvocation(static_cast<int>(rest.size()), rest.data());
  if (!invocation.help.empty()) {
    flags.help = kAbout + invocation.help;
    return flags;
  }
  Require(!flags.file.empty(), "ring", "--ring FILE is required: the file with your AllReduceMean");
  Require(!invocation.eval_only && !invocation.describe, "ring",
          "trains, and takes neither --eval-only nor --describe");
  SetDefaults(invocation);
  RequireRun(invocation);
  CheckAndComplete(invocation);
  if (invocation.out.empty()) invocation.out = UserPath("ring_training");
  invocation.out = NewFolder(invocation.out);
  flags.path = UserPath(flags.file);
  flags.run = invocation;
  return flags;
}

}  // namespace torus::tools::labs
