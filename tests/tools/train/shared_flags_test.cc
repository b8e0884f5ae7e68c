// Of each flag of train: whether processes must have been given the same.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "recipes/run/shared_facts.h"
#include "tools/common/flag_table.h"

namespace torus::tools {
namespace {

// Those that may differ between the processes of a run, and why.
const std::map<std::string, std::string> kFree{
    {"--data-dir", "a path of the host; what is there is compared"},
    {"--vocab-dir", "a path of the host; the tokens that it makes are compared"},
    {"--codec-folder", "a path of the host"},
    {"--out", "rank 0's is used"},
    {"--memory-limit", "what the process may do with its own memory"},
    {"--preset", "what it stands for is compared"},
    {"--verify-resume", "one process alone can do it"},
    {"--find-lr", "the steps that it takes are compared"},
    {"--describe", "nothing is trained"},
    {"--presets", "nothing is trained"},
};

TEST(SharedFlags, EachIsComparedOrMayDiffer) {
  std::set<std::string> compared, all;
  for (const auto& [name, value] : recipes::OptionFacts({})) compared.insert(name);
  for (const FlagRow& row : FlagTable())
    for (const std::string_view flag : Words(row.flags))
      if (RowOf("train", flag) == &row) all.emplace(flag);
  EXPECT_GT(all.size(), 60u);
  for (const std::string& flag : all)
    EXPECT_NE(compared.contains(flag), kFree.contains(flag))
        << flag << ": compare it (recipes/run/shared_facts.h), or say here why it may differ";
  for (const auto& [flag, why] : kFree) EXPECT_TRUE(all.contains(flag)) << flag;
}

}  // namespace
}  // namespace torus::tools
