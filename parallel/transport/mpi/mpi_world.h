// The transport between ranks that are processes, over OpenMPI.
//
// A receive asks for its message: it posts MPI_Irecv and sends its rank's peer a request of some
// hundred bytes; the send, once the request has come, is an MPI_Isend whose receive waits already.
// So an unmatched send can be withdrawn (MPI cannot cancel one), sizes are compared before bytes
// move, and a receive that is posted early costs its message nothing. Wait and Done carry this on,
// and so does each tick of the rank (runtime/progress.h), at most every 100 us; there is no helper
// thread. WaitTime of a receive counts all as blocked.
//
// Deadlines are those of in_process.h. Every rank tells all others its progress and whom it waits
// for, at least every second while it ticks or waits; a rank that does neither makes no progress.
// BytesSent counts a message when MPI has taken its last byte for a receive that was waiting.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/in_process.h"
#include "parallel/transport/world.h"

namespace torus::parallel {

struct MpiOptions {
  double timeout = 60;  // as InProcessOptions
  // Seconds that others have to stop once a rank has failed. Then all processes are ended, after a
  // line on stderr that begins "torus:".
  double grace = 5;
  // Seconds in which all processes must have made the world: they start one after the other.
  double meeting = 60;
  // Longer messages go in pieces of so many bytes: MPI counts in 31 bits.
  size_t longest_piece = size_t{1} << 30;
  // Of memory that a rank shares with others of its host, for each of the groups that sum through
  // it (shared_rooms.h). 0: they send messages.
  size_t room_bytes = size_t{1} << 21;
};

struct MpiState;

// A rank that fails says so on stderr, one line that begins "torus:"; and while there is a world,
// SIGTERM leaves such a line too (last_words.h), so install a handler of the program's before it.
class MpiWorld : public World {
 public:
  // A world of the first `size` processes that mpirun started, all where it is 0; each of these
  // makes it, the others do not. BadInput for more than there are, in a process beyond, and for
  // options out of range; BrokenEnvironment, naming them, where others do not come in time.
  // Without mpirun there is one process.
  explicit MpiWorld(int size = 0, MpiOptions options = {});
  // Waits until the others leave too, as long as one of them makes progress in twice the timeout,
  // after a failure for the grace; else it ends all processes.
  ~MpiWorld() override;
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int size() const override;
  std::vector<int> local() const override;
  // On the calling thread.
  void Run(const std::function<void(Transport&)>& fn) override;

  int aborted_by() const;  // the rank that aborted the run, as this process knows; -1: none
  // The processes that mpirun started; 1 without it. This process' number among them.
  static int processes();
  static int process();

 private:
  std::unique_ptr<MpiState> state_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace torus::parallel
