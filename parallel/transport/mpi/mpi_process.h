// MpiProcess: this process among those that mpirun started. MPI is begun once a process, unless the
// program has done so, and ended when it exits.
#pragma once

#include <mpi.h>

#include <mutex>
#include <string>

namespace torus::parallel {

class MpiProcess {
 public:
  // Begins MPI with the first call; BrokenEnvironment where it cannot. Without mpirun the process
  // is the only one.
  static MpiProcess& Get();
  // Others are missing: the process does not wait for them when it exits, but ends all.
  void GiveUp() { given_up_ = true; }

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& host() const { return host_; }
  // Any thread may call MPI, one at a time: held around every call.
  std::mutex& mutex() { return mutex_; }

  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

 private:
  MpiProcess();
  ~MpiProcess();

  int rank_ = 0, size_ = 1;
  std::string host_;
  std::mutex mutex_;
  bool owner_ = true;  // has begun MPI and ends it
  bool given_up_ = false;
};

// Throws BrokenEnvironment with MPI's own text unless `code`, the result of `call`, is MPI_SUCCESS.
void CheckMpi(int code, const char* call);

// Writes the line "torus: TEXT" to stderr, whole.
void SayLine(const std::string& text);
// Says so, and ends all processes of the run, with a status that is not 0.
[[noreturn]] void EndAllProcesses(const std::string& text);

}  // namespace torus::parallel
