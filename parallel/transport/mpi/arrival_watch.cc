#include "parallel/transport/mpi/arrival_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "parallel/transport/mpi/mpi_process.h"

namespace torus::parallel {
namespace {

namespace fs = std::filesystem;

// A number from the environment; -1 without one.
int NumberIn(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const char* const text = std::getenv(variable)) return std::atoi(text);
  return -1;
}

int Rank() { return NumberIn({"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}); }
int Size() { return NumberIn({"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}); }

// Of the files that say who has come, but for the rank. Empty if there is no folder for them.
std::string Prefix() {
  const char* const folder = std::getenv("PMIX_SERVER_TMPDIR");
  const char* const run = std::getenv("PMIX_NAMESPACE");
  if (folder == nullptr || run == nullptr) return "";
  std::string name(run);
  for (char& c : name)
    if (c == '/') c = '_';
  return fmt::format("{}/torus-{}-", folder, name);
}

std::set<int> Come() {
  std::set<int> ranks;
  const std::string prefix = Prefix();
  std::error_code error;  // a folder that cannot be read shows nobody; this is a thread's
  for (fs::directory_iterator at(fs::path(prefix).parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    const std::string path = at->path().string();
    if (path.starts_with(prefix)) ranks.insert(std::atoi(path.c_str() + prefix.size()));
  }
  return ranks;
}

// Where all processes are on this host, those that have not come are known by number.
std::string WhoHasNotCome(const std::set<int>& come) {
  const int size = Size(), here = NumberIn({"OMPI_COMM_WORLD_LOCAL_SIZE"});
  if (come.empty()) return "some process has not called it";
  // PMIx without OpenMPI's mpirun does not say how many are here.
  const std::string of = here < 0 ? "the" : fmt::format("the {}", here);
  if (here < 0 || here != size)
    return fmt::format("of {} processes of this host {} have called it: {}{}", of, come.size(),
                       fmt::join(come, ", "),
                       size < 0 ? "" : fmt::format("; there are {} in all", size));
  std::vector<int> missing;
  for (int rank = 0; rank < size; ++rank)
    if (!come.contains(rank)) missing.push_back(rank);
  if (missing.empty()) return fmt::format("all {} processes have called it", size);
  return fmt::format("process{} {} of {} {} not called it", missing.size() == 1 ? "" : "es",
                     fmt::join(missing, ", "), size, missing.size() == 1 ? "has" : "have");
}

}  // namespace

ArrivalWatch::ArrivalWatch(double seconds) {
  if (Rank() < 0 || Size() == 1) return;
  if (const std::string prefix = Prefix(); !prefix.empty())
    std::ofstream(fmt::format("{}{}", prefix, Rank()));
  thread_ = std::thread([this, seconds] { Watch(seconds); });
}

ArrivalWatch::~ArrivalWatch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    arrived_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ArrivalWatch::Watch(double seconds) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return arrived_; }))
    return;
  SayLine(fmt::format("process {}: MPI_Init has not returned within {:.0f} s: {}", Rank(), seconds,
                      WhoHasNotCome(Come())));
  _exit(1);
}

}  // namespace torus::parallel
