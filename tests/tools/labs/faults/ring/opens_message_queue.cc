// Fault: tries to reach the other ranks by a message queue, which nobody counts.
#include <sys/ipc.h>
#include <sys/msg.h>

#include <stdexcept>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  if (msgget(0x70725, IPC_CREAT | 0600) < 0) throw std::runtime_error("no message queue");
}

}  // namespace lab
