// A rank's program: performs one task, and reports its result or why there is none.
#include <sys/prctl.h>

#include <exception>
#include <new>

#include "lab_rank.h"

int main() {
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
