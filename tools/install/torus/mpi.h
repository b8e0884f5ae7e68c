// Ranks that are processes over MPI.
#pragma once

#include "parallel/transport/mpi/mpi_world.h"
#include "tools/install/torus/torus.h"
