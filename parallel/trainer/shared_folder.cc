#include "parallel/trainer/shared_folder.h"

#include <filesystem>
#include <random>

#include "parallel/trainer/joint_work.h"
#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::parallel {
namespace {

std::string FileOf(const std::string& folder, int rank) {
  return fmt::format("{}/.rank-{}", folder, rank);
}

// Unique to this run, because another run may have left files of the same names.
std::string TextOf(uint64_t run, int rank) { return fmt::format("{:016x} {}\n", run, rank); }

void WriteToken(const std::string& folder, const std::string& text, int rank) {
  io::OutputFile file(FileOf(folder, rank));
  file.Write(text);
  file.Close(true);
}

std::string ReadToken(const std::string& folder, int rank) {
  try {
    return io::InputFile(FileOf(folder, rank)).ReadAll();
  } catch (const BadInput&) {
    return "";
  }
}

void RequireTokens(const std::string& folder, uint64_t run, int ranks) {
  for (int rank = 0; rank < ranks; ++rank)
    if (ReadToken(folder, rank) != TextOf(run, rank))
      Throw<BrokenEnvironment>(folder,
                               "must be one folder that all ranks share, but what rank {} has "
                               "written there is not to be seen",
                               rank);
}

}  // namespace

std::exception_ptr CheckSharedFolder(Communicator& world, const std::string& folder) {
  const int rank = world.rank();
  const uint64_t mine = std::random_device()() + (uint64_t{std::random_device()()} << 32);
  const uint64_t run = world.Share(mine, "number of a run").front();
  std::exception_ptr failure = DoTogether(world, "who can write the run's folder",
                                          [&] { WriteToken(folder, TextOf(run, rank), rank); });
  if (!failure)
    failure = DoTogether(world, "who sees the run's folder",
                         [&] { RequireTokens(folder, run, world.size()); });
  std::error_code gone;
  std::filesystem::remove(FileOf(folder, rank), gone);
  return failure;
}

}  // namespace torus::parallel
