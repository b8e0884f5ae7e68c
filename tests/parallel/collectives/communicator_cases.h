// What every communicator that sums directly must do, over any transport.
#pragma once

#include "parallel/collectives/communicator.h"

namespace torus::parallel::testing {

// All members call it together. Checks every operation, of every type, on buffers from none to
// several pieces of a message long, bit for bit against a serial reference in its documented order.
void CheckEveryOperation(Communicator& communicator);

}  // namespace torus::parallel::testing
