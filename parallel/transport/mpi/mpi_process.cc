#include "parallel/transport/mpi/mpi_process.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "parallel/transport/mpi/arrival_watch.h"
#include "runtime/error.h"
#include "runtime/one_line.h"

namespace torus::parallel {
namespace {

constexpr std::chrono::seconds kLongestFarewell{60};

// MPI_Finalize waits forever for a process that hangs.
bool AllHaveCome() {
  MPI_Request request;
  int come = 0;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
  const auto deadline = std::chrono::steady_clock::now() + kLongestFarewell;
  while (MPI_Test(&request, &come, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
    if (come || std::chrono::steady_clock::now() > deadline) return come;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return false;
}

}  // namespace

std::atomic<MpiProcess*> MpiProcess::begun_ = nullptr;

MpiProcess& MpiProcess::Begin(double meeting) {
  static MpiProcess process(meeting);
  begun_ = &process;
  return process;
}

MpiProcess& MpiProcess::Get() {
  MpiProcess* const process = begun_;
  TORUS_CHECK(process != nullptr, "MPI is used before MpiProcess::Begin");
  return *process;
}

MpiProcess::MpiProcess(double meeting) {
  int initialized = 0, level = 0;
  MPI_Initialized(&initialized);
  owner_ = initialized == 0;
  if (owner_) {
    const ArrivalWatch watch(meeting);
    CheckMpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  } else {
    CheckMpi(MPI_Query_thread(&level), "MPI_Query_thread");
  }
  Require(level >= MPI_THREAD_SERIALIZED, "mpi", "needs MPI_THREAD_SERIALIZED ({}), got level {}",
          MPI_THREAD_SERIALIZED, level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  host_.assign(name, length);
}

MpiProcess::~MpiProcess() {
  if (!owner_) return;
  if (given_up_ || !AllHaveCome())
    EndAllProcesses(fmt::format("process {} on {} ends, but others do not", rank_, host_));
  MPI_Finalize();
}

void CheckMpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  Throw<BrokenEnvironment>("mpi", "{} failed: {}", call, std::string_view(text, length));
}

void SayLine(const std::string& text) {
  const std::string line = "torus: " + OneLine(text) + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void EndAllProcesses(const std::string& text) {
  SayLine(text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  _Exit(1);
}

}  // namespace torus::parallel
