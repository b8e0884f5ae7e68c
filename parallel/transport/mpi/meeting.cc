#include "parallel/transport/mpi/meeting.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "parallel/transport/mpi/mpi_process.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr int kHelloTag = 1;

struct Hello {
  pid_t process = 0;
  UsableCores cores{};
  char host[MPI_MAX_PROCESSOR_NAME] = {};
};

Hello OwnHello() {
  Hello hello{.process = getpid(), .cores = CoresOfProcess()};
  const std::string& host = MpiProcess::Get().host();
  std::copy_n(host.data(), std::min(host.size(), sizeof hello.host - 1), hello.host);
  return hello;
}

// The hellos of all processes, including this one.
struct Round {
  explicit Round(int size) : own(OwnHello()), heard(size), sends(size), recvs(size) {
    for (int peer = 0; peer < size; ++peer) {
      CheckMpi(MPI_Irecv(&heard[peer], sizeof(Hello), MPI_BYTE, peer, kHelloTag, MPI_COMM_WORLD,
                         &recvs[peer]),
               "MPI_Irecv");
      CheckMpi(MPI_Isend(&own, sizeof own, MPI_BYTE, peer, kHelloTag, MPI_COMM_WORLD, &sends[peer]),
               "MPI_Isend");
    }
  }

  std::vector<int> Missing() {
    std::vector<int> missing;
    for (size_t peer = 0; peer < recvs.size(); ++peer) {
      int come = 0, taken = 0;
      CheckMpi(MPI_Test(&recvs[peer], &come, MPI_STATUS_IGNORE), "MPI_Test");
      CheckMpi(MPI_Test(&sends[peer], &taken, MPI_STATUS_IGNORE), "MPI_Test");
      if (!come || !taken) missing.push_back(static_cast<int>(peer));
    }
    return missing;
  }

  const Hello own;
  std::vector<Hello> heard;
  std::vector<MPI_Request> sends, recvs;
};

void WaitForAll(std::unique_ptr<Round>& round, double timeout) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto begin = now();
  for (;;) {
    const std::vector<int> missing = round->Missing();
    if (missing.empty()) return;
    if (std::chrono::duration<double>(now() - begin).count() > timeout) {
      (void)round.release();  // MPI has its buffers until the process ends
      MpiProcess::Get().GiveUp();
      Throw<BrokenEnvironment>("transport", "process {} did not come to the world within {:.2f} s",
                               fmt::join(missing, ", "), timeout);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

MPI_Comm CommOfFirst(int size) {
  int last[1][3] = {{0, size - 1, 1}};
  MPI_Group all, first;
  MPI_Comm comm = MPI_COMM_NULL;
  CheckMpi(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  CheckMpi(MPI_Group_range_incl(all, 1, last, &first), "MPI_Group_range_incl");
  CheckMpi(MPI_Comm_create_group(MPI_COMM_WORLD, first, kHelloTag, &comm), "MPI_Comm_create_group");
  MPI_Group_free(&first);
  MPI_Group_free(&all);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

}  // namespace

Meeting Meet(int size, double timeout) {
  const std::lock_guard lock(MpiProcess::Get().mutex());
  auto round = std::make_unique<Round>(size);
  WaitForAll(round, timeout);
  Meeting meeting{.comm = CommOfFirst(size)};
  for (const Hello& hello : round->heard)
    meeting.participants.push_back({hello.host, hello.process, hello.cores});
  return meeting;
}

std::vector<int> RanksOnThisHost(const std::vector<Participant>& participants) {
  std::vector<int> ranks;
  for (size_t rank = 0; rank < participants.size(); ++rank)
    if (participants[rank].host == MpiProcess::Get().host())
      ranks.push_back(static_cast<int>(rank));
  return ranks;
}

bool SharesCores(const std::vector<Participant>& participants, const UsableCores& own) {
  const auto shares = [&](int rank) {
    const UsableCores& cores = participants[rank].cores;
    return cores.first == own.first && cores.count == own.count;
  };
  return std::ranges::count_if(RanksOnThisHost(participants), shares) > own.count;
}

bool IsNeighbour(const Participant& participant) {
  return participant.process != getpid() && participant.host == MpiProcess::Get().host() &&
         kill(participant.process, 0) == 0;
}

}  // namespace torus::parallel
