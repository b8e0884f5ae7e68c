// What a lab is asked to do: its flags, read and completed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/settings/settings.h"

namespace torus::labs {

struct LabOptions {
  LabOptions();

  recipes::Settings settings;  // what all runs of the lab have in common; ForRanks has the rest
  std::vector<int64_t> batches{32, 128, 512};  // samples of a rank in a step
  std::vector<int64_t> ranks{1, 2, 4};
  int64_t small_batch = 128;       // on one rank, beside the largest on all
  int64_t epochs = 5;              // of questions that train for some
  int64_t images = 0;              // of the training set, its first ones; 0: all
  int64_t test_images = 0;         // of the test set
  int64_t steps = 40;              // of questions that count steps
  int64_t rank_threads = 1;        // of each rank, so that a rank is as fast alone as among others
  uint64_t memory_limit = 0;       // bytes of all tensors of a device; 0: the allocator's own
  std::vector<std::string> links;  // emulated, between ranks
  std::string out;                 // the folder of the pages
  bool quick = false;              // a part of the data
  bool blank = false;              // only the report to fill in
};

// Reads the arguments (argv[0] is the program) of the lab `name`, which `about` describes. True
// where --help was printed. BadInput, in one line, for what is wrong with a flag by itself.
bool ParseLabFlags(const std::string& name, const std::string& about, int argc,
                   const char* const* argv, LabOptions& options);

// The folder of CIFAR-10 where none was given: $TORUS_DATA/cifar10. BadInput, saying what to give,
// where that does not name a folder either.
void FindData(const std::string& name, LabOptions& options);

// The links of a run on `ranks` ranks: none on one.
std::vector<std::string> LinksOf(const LabOptions& options, int64_t ranks);

// The settings of a run on `ranks` ranks, each with `batch` samples a step.
recipes::Settings ForRanks(const LabOptions& options, int64_t batch, int64_t ranks);

}  // namespace torus::labs
