// A rank's program: performs one task, and reports its result or why there is none.
#include <sys/prctl.h>

#include <cstdio>
#include <exception>
#include <new>

#include "lab_rank.h"

namespace {

// Static: what is printed to look for a fault does not count as memory that the rank needs.
char printed[4096];

}  // namespace

int main() {
  setvbuf(stdout, printed, _IOLBF, sizeof(printed));
  prctl(PR_SET_DUMPABLE, 0);  // so that other ranks, of the same user, cannot read its memory
  lab::Rank rank;
  const lab::Task task = rank.ReadTask();
  try {
    rank.Finish(lab::Perform(rank, task));
  } catch (const std::bad_alloc&) {
    rank.Fail("asked for more memory than it may have (std::bad_alloc)");
  } catch (const std::exception& error) {
    rank.Fail(std::string("threw an exception: ") + error.what());
  } catch (...) {
    rank.Fail("threw something that is no std::exception");
  }
  return 0;
}
