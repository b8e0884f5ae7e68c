// The options of a lab: its flags, parsed and completed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/settings/settings.h"

namespace torus::labs {

struct LabOptions {
  LabOptions();

  recipes::Settings settings;  // common to all runs of the lab; ForRanks adds the rest
  std::vector<int64_t> batches{32, 128, 512};  // samples per rank in a step
  std::vector<int64_t> ranks{1, 2, 4};
  int64_t small_batch = 128;       // on one rank, to compare with the largest batch on all ranks
  int64_t epochs = 5;              // for questions that train several epochs
  int64_t images = 0;              // use the first ones of the training set; 0: all
  int64_t test_images = 0;         // the same for the test set
  int64_t steps = 40;              // for questions that train a number of steps
  int64_t rank_threads = 1;        // per rank, so that a rank is as fast alone as among others
  uint64_t memory_limit = 0;       // bytes of all tensors on a device; 0: the allocator's own
  std::vector<std::string> links;  // emulated links between ranks
  std::string out;                 // the folder for the pages
  bool quick = false;              // use only a part of the data
  bool blank = false;              // only write the report to fill in
};

// Reads the arguments (argv[0] is the program) of the lab `name`, which `about` describes. Returns
// true if --help was printed. Throws BadInput, in one line, if a flag is wrong by itself.
bool ParseLabFlags(const std::string& name, const std::string& about, int argc,
                   const char* const* argv, LabOptions& options);

// If no data folder was given, sets it to that of CIFAR-10: $TORUS_DATA/cifar10. Throws BadInput,
// saying what to give, if that is not a folder.
void FindData(const std::string& name, LabOptions& options);

// The emulated links of a run on `ranks` ranks; none for a single rank.
std::vector<std::string> LinksOf(const LabOptions& options, int64_t ranks);

// The settings of a run on `ranks` ranks, with `batch` samples per rank and step.
recipes::Settings ForRanks(const LabOptions& options, int64_t batch, int64_t ranks);

}  // namespace torus::labs
