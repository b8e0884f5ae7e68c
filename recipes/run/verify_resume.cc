#include "recipes/run/verify_resume.h"

#include <cstring>

#include "recipes/run/resumed_run.h"
#include "recipes/run/run_folder.h"
#include "recipes/run/run_processes.h"
#include "runtime/error.h"
#include "runtime/io/checkpoint_reader.h"

namespace torus::recipes {
namespace {

// How many elements of two tensors of one type and shape have other bits, and the first of them.
struct Difference {
  int64_t count = 0, first = -1;
};

Difference DifferenceOf(const Tensor& a, const Tensor& b) {
  const size_t size = SizeOf(a.dtype());
  const auto *of_a = static_cast<const char*>(a.raw()), *of_b = static_cast<const char*>(b.raw());
  Difference found;
  for (int64_t i = 0; i < a.numel(); ++i) {
    if (std::memcmp(of_a + i * size, of_b + i * size, size) == 0) continue;
    if (found.count++ == 0) found.first = i;
  }
  return found;
}

// What differs in a tensor that one of them, or both, have; empty if nothing does.
std::string Compare(const io::CheckpointReader& a, const io::CheckpointReader& b, const char* kind,
                    const std::string& name) {
  const bool in_a = a.entries(kind).contains(name), in_b = b.entries(kind).contains(name);
  if (!in_a || !in_b)
    return fmt::format("{} has {} only in the run {}", kind, name,
                       in_a ? "without a stop" : "that was resumed");
  const Tensor of_a = a.Read(kind, name), of_b = b.Read(kind, name);
  if (of_a.dtype() != of_b.dtype() || of_a.shape() != of_b.shape())
    return fmt::format("{} has {} as {} without a stop, as {} resumed", kind, name, of_a, of_b);
  const Difference found = DifferenceOf(of_a, of_b);
  if (found.count == 0) return "";
  return fmt::format("{} of {}: {} of {} elements, the first at {}", kind, name, found.count,
                     of_a.numel(), found.first);
}

}  // namespace

ResumeCheck CompareCheckpoints(const std::string& whole, const std::string& resumed) {
  const io::CheckpointReader a(whole), b(resumed);
  ResumeCheck check;
  for (const char* kind :
       {io::kWeights, io::kOptimizer, io::kAverages, io::kCodecs, io::kReplicas}) {
    io::CheckpointReader::Entries all = a.entries(kind);
    all.insert(b.entries(kind).begin(), b.entries(kind).end());
    for (const auto& [name, entry] : all) {
      const std::string what = Compare(a, b, kind, name);
      ++check.tensors;
      check.different += what.empty() ? 0 : 1;
      if (check.first.empty()) check.first = what;
    }
  }
  return check;
}

ResumeCheck VerifyResume(const RunOptions& options, int64_t steps, const RunCallbacks& callbacks,
                         parallel::World* world) {
  Require(steps >= 1, "train", "--verify-resume must be at least 1 step, got {}", steps);
  Require(options.resume.empty(), "train", "--verify-resume begins a run; leave out --resume");
  const std::string out = options.out.empty() ? options.runs + "/verify-resume" : options.out;
  const auto run = [&](RunOptions part, const char* name, int64_t end) {
    part.out = out + "/" + name;
    part.max_steps = end;
    return Run(part, callbacks, world);
  };
  const RunResult stopped = run(options, "stopped", steps);
  if (!stopped.finished) return {.finished = false};
  RunOptions rest = options;
  rest.resume = stopped.folder;
  rest.plans = "";  // its own
  rest.settings = LoadStored(stopped.folder).settings;
  const RunResult resumed = run(rest, "resumed", 2 * steps);
  if (!resumed.finished) return {.finished = false};
  Require(resumed.step > steps, "train",
          "--verify-resume {} leaves nothing to resume: the run has {} steps", steps, resumed.step);
  // A time that is measured again may choose otherwise.
  RunOptions once = options;
  if (once.settings.autotune && once.settings.device == "cuda") once.plans = resumed.folder;
  const RunResult whole = run(once, "whole", 2 * steps);
  if (!whole.finished) return {.finished = false};
  ResumeCheck check;
  RunProcesses(world).Lead([&] {
    check = CompareCheckpoints(RunFolder{whole.folder}.checkpoint(),
                               RunFolder{resumed.folder}.checkpoint());
  });
  check.steps = whole.step;
  return check;
}

std::string ToText(const ResumeCheck& check) {
  if (check.different == 0)
    return fmt::format(
        "after {} steps all {} tensors of the resumed run have the bits of the run "
        "without a stop",
        check.steps, check.tensors);
  return fmt::format(
      "after {} steps {} of {} tensors of the resumed run differ from the run without a stop; the "
      "first: {}",
      check.steps, check.different, check.tensors, check.first);
}

}  // namespace torus::recipes
