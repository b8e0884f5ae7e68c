#include "recipes/run/shared_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <string_view>

#include "runtime/io/file.h"
#include "runtime/io/file_sum.h"
#include "runtime/io/folder_names.h"

namespace torus::recipes {
namespace {

namespace fs = std::filesystem;

// Of a folder, of the files directly in it. Empty if there is nothing: whoever reads it says so.
std::string ContentsOf(const std::string& path) {
  std::vector<std::string> files;
  std::error_code none;
  if (fs::is_directory(path, none)) {
    for (const std::string& name : io::NamesIn(path))
      if (fs::is_regular_file(path + "/" + name, none)) files.push_back(path + "/" + name);
  } else if (fs::is_regular_file(path, none)) {
    files.push_back(path);
  }
  std::string list;
  uint64_t bytes = 0;
  for (const std::string& file : files) {
    const io::FileSum sum = io::SumOf(io::InputFile(file));
    bytes += sum.bytes;
    list += fmt::format("{} {:08x}\n", sum.bytes, sum.crc32c);
  }
  return files.empty()
             ? ""
             : fmt::format("{} bytes with checksum {:08x}", bytes, io::SumOf(list).crc32c);
}

}  // namespace

parallel::RunFacts OptionFacts(const RunOptions& options, bool evaluates) {
  static const std::set<std::string_view> kOfAHost{"--data-dir", "--vocab-dir", "--codec-folder",
                                                   "--init", "--image-cache"};
  parallel::RunFacts facts;
  const auto add = [&](const char* name, const auto& value) {
    facts.emplace_back(name, fmt::format("{}", value));
  };
  ForEachSetting(options.settings, [&](const char* flag, const auto& value) {
    if (!kOfAHost.contains(flag)) add(flag, value);
  });
  // A resumed run's weights are those of its checkpoint.
  if (options.resume.empty()) add("--init", ContentsOf(options.settings.init));
  // With a cache images are smaller than their files': all processes have one, or none.
  add("--image-cache", options.settings.image_cache.empty() ? "" : "given");
  add("--resume", options.resume.empty() ? "" : "given");
  add("--eval-only", evaluates);
  add("--max-steps", options.max_steps);
  add("--checkpoint-every", options.checkpoint_every);
  add("--eval-every", options.eval_every);
  add("--keep", options.keep);
  add("--timeout", options.timeout);
  add("--max-skipped", options.max_skipped);
  add("--cuda-graphs", options.cuda_graphs);
  add("--plans", options.plans == "none" ? "none" : ContentsOf(options.plans));
  add("--rank-memory", options.rank_memory);
  return facts;
}

parallel::RunFacts DataFacts(const TaskData& data) {
  parallel::RunFacts facts;
  for (const auto& [part, name] : {std::pair{&data.train, "training"},
                                   {&data.validation, "validation"},
                                   {&data.test, "test"}}) {
    facts.emplace_back(fmt::format("{} examples", name), fmt::format("{}", part->size));
    facts.emplace_back(fmt::format("order of the {} examples", name),
                       fmt::format("{:016x}", part->order));
  }
  return facts;
}

}  // namespace torus::recipes
