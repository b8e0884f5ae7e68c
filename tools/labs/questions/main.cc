// A lab's program. The target defines TORUS_LAB, the question's name.
#include "tools/common/run_main.h"
#include "tools/labs/questions/lab.h"

int main(int argc, char** argv) {
  return torus::tools::RunMain(TORUS_LAB,
                               [&] { return torus::labs::LabMain(TORUS_LAB, argc, argv); });
}
