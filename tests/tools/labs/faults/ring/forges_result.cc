// Fault: sends a result of its own, without any values, and ends before the right one is sent.
#include <unistd.h>

#include "lab_rank.h"
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float>) {
  dynamic_cast<Rank&>(wire).Finish({});
  _exit(0);
}

}  // namespace lab
