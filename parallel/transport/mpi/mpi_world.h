// MpiWorld: the transport between ranks that are processes, over OpenMPI.
//
// Transfers are receiver-driven. A receive posts MPI_Irecv and sends its peer a request of about a
// hundred bytes. Once the request has come, the send calls MPI_Isend, so its receive is already
// posted. This way an unmatched send can be cancelled (MPI cannot cancel one), sizes are compared
// before bytes move, and a receive posted early adds no delay to its message. Wait and Done advance
// transfers, and so does each tick of the rank (runtime/progress.h), at most every 100 us. WaitTime
// of a receive counts all time as blocked.
//
// Deadlines are those of in_process.h. While it is in Run, or alive in a declared long work
// (runtime/long_work.h), a rank sends all others its progress, and whom it waits for, at least once
// a second; a thread beside it does so where it neither ticks nor waits. As RunRanks does, that
// thread aborts the run if no rank has made progress for twice the timeout, or one has sent nothing
// for that long. BytesSent counts a message once it is matched and MPI has taken its last byte.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/in_process.h"
#include "parallel/transport/world.h"

namespace torus::parallel {

// Deadlines in seconds, sizes, and what a program does besides.
struct MpiOptions {
  double timeout = 60;  // as InProcessOptions
  // Grace period: seconds that other ranks have to stop once one has failed, from their last
  // progress on, since they may still write what they know. Then all processes are ended (see
  // MpiWorld).
  double grace = 5;
  // Seconds within which all processes must have constructed the world: they do not start at once.
  double meeting = 60;
  // Longer messages are split into pieces of this many bytes: MPI counts in 31 bits.
  size_t longest_piece = size_t{1} << 30;
  // Tags of MPI that receives from one rank use in turn, of those that MPI has.
  int32_t most_channels = std::numeric_limits<int32_t>::max();
  // Bytes of memory that a rank shares with others of its host, for each group that sums through
  // shared memory (shared_buffers.h). 0: such groups send messages.
  size_t shared_buffer_bytes = size_t{1} << 21;
  // Whether SIGTERM, which mpirun sends when another process has died, writes why to stderr and
  // ends this process while the world exists (last_words.h). A program installs its own handler
  // before it constructs the world. False: no signal handler is installed.
  bool handles_sigterm = false;
  // Called with a line about what no exception can tell in time: that this rank fails, and why,
  // while the others still have to stop. On any thread. Empty: nothing is said.
  std::function<void(const std::string& line)> on_message = {};
};

// The options of a process that is the run's alone, as a program's is: handles_sigterm, and
// on_message writes lines to stderr that begin with "torus:". Also keeps OpenMPI from starting a
// daemon where nobody launched this process: sets OMPI_MCA_ess_singleton_isolated in the
// environment, unless it is set. So call it before the first use of MPI, and before other threads
// read the environment. An application that is to have the same sets the variable itself.
MpiOptions ForProgram(MpiOptions options = {});

struct MpiState;

// What an application must know: a process that cannot go on ends all processes of the run, by
// MPI_Abort, after a line on stderr that begins with "torus:". Nothing else can: other processes
// may wait for this one for ever, MPI cannot take back what it has begun, and its calls cannot be
// interrupted. It does so if others have not come within `meeting` seconds while MPI_Init waits for
// them, have not stopped within the grace period after a failure, or if MPI fails where no
// exception may leave (in a destructor). All other failures are exceptions.
class MpiWorld : public World {
 public:
  // A world of the first `size` processes that mpirun started, or of all if `size` is 0. These
  // processes construct it, the others do not. Without mpirun there is one process. Throws BadInput
  // if there are fewer processes, if this process is not one of the first `size`, or if an option
  // is out of range. Throws BrokenEnvironment, naming the missing processes, if others do not come
  // in time.
  explicit MpiWorld(int size = 0, MpiOptions options = {});
  // Waits until the others leave too, as long as one of them makes progress within twice the
  // timeout, or after a failure within the grace period. Then it ends all processes.
  ~MpiWorld() override;
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int size() const override;
  std::vector<int> local() const override;
  // Runs on the calling thread.
  void Run(const std::function<void(Transport&)>& fn) override;
  std::unique_ptr<LongWork> Alive() override;
  std::shared_ptr<void> HoldOffTheEnd() override;

  int aborted_by() const;  // the rank that aborted the run, as far as this process knows; -1: none
  // How many processes mpirun started (1 without it), and this process's number among them.
  static int processes(double meeting = MpiOptions().meeting);
  static int process();

 private:
  std::unique_ptr<MpiState> state_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace torus::parallel
