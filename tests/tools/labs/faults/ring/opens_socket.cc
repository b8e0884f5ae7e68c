// Fault: tries to reach the other ranks by another way than the wire.
#include <sys/socket.h>

#include <stdexcept>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  if (socket(AF_INET, SOCK_STREAM, 0) < 0) throw std::runtime_error("no socket");
}

}  // namespace lab
