// MpiProcess: this process as one of those that mpirun started. Initializes MPI once per process,
// unless the program has done so, and then finalizes it at exit.
#pragma once

#include <mpi.h>

#include <atomic>
#include <mutex>
#include <string>

namespace torus::parallel {

class MpiProcess {
 public:
  // The first call initializes MPI; throws BrokenEnvironment if that fails. Without mpirun this is
  // the only process. Ends the process if the others have not come after `meeting` seconds
  // (ArrivalWatch), which count in the first call alone.
  static MpiProcess& Begin(double meeting);
  // After Begin.
  static MpiProcess& Get();
  // Call it when other processes are missing: at exit this process then ends all processes instead
  // of waiting for them.
  void GiveUp() { given_up_ = true; }

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& host() const { return host_; }
  // Hold it around every MPI call: any thread may call MPI, but only one at a time.
  std::mutex& mutex() { return mutex_; }

  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

 private:
  explicit MpiProcess(double meeting);
  ~MpiProcess();

  static std::atomic<MpiProcess*> begun_;
  int rank_ = 0, size_ = 1;
  std::string host_;
  std::mutex mutex_;
  bool owner_ = true;  // initialized MPI, so finalizes it
  bool given_up_ = false;
};

// Throws BrokenEnvironment with MPI's own text unless `code`, the result of `call`, is MPI_SUCCESS.
void CheckMpi(int code, const char* call);

// Writes the line "torus: TEXT" to stderr in one piece.
void SayLine(const std::string& text);
// Writes `text` as SayLine does and ends all processes of the run with a non-zero status.
[[noreturn]] void EndAllProcesses(const std::string& text);

}  // namespace torus::parallel
