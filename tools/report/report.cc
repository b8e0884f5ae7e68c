// tools/report: makes the page of a run again, of one that was killed too, or a page that compares
// several runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "recipes/report/compare.h"
#include "recipes/run/read_report.h"
#include "recipes/run/run_folder.h"
#include "runtime/error.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

// What the JSON library says, without its number: "key 'ranks' not found".
std::string ReasonOf(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const size_t end = text.find("] ");
  return end == text.npos ? text : text.substr(end + 2);
}

std::string Render(const std::vector<std::string>& folders) try {
  if (folders.size() == 1) return recipes::RenderReport(recipes::ReadReport(folders[0]));
  const std::vector<std::string> names = recipes::NamesOf(folders);
  std::vector<recipes::NamedRun> runs;
  for (size_t i = 0; i < folders.size(); ++i)
    runs.push_back({names[i], recipes::ReadReport(folders[i])});
  return recipes::RenderComparison(runs);
} catch (const nlohmann::json::exception& error) {
  Throw<BadInput>("report", "a file of these runs is not as a run writes it: {}", ReasonOf(error));
} catch (const std::out_of_range&) {
  Throw<BadInput>("report",
                  "a file of these runs is not as a run writes it: it names a rank that there is "
                  "not");
}

std::string Summaries(const std::vector<std::string>& folders) {
  nlohmann::json all = nlohmann::json::array();
  const std::vector<std::string> names = recipes::NamesOf(folders);
  for (size_t i = 0; i < folders.size(); ++i)
    all.push_back({{"name", names[i]},
                   {"folder", FullPath(folders[i])},
                   {"summary", recipes::ReadReport(folders[i]).summary}});
  return all.dump(2) + "\n";
}

int Main(int argc, char** argv) {
  std::vector<std::string> folders;
  std::string out, json;
  CLI::App app(
      "Writes the report page of a run again, whether it has ended or not, or a page that compares "
      "several runs.",
      "report");
  app.add_option("runs", folders, "Folders of runs of tools/train")
      ->required()
      ->type_name("RUN...");
  app.add_option(
      "--out", out,
      "Page to write. Default: report.html in the run's folder; for several runs comparison.html");
  app.add_option("--json", json,
                 "Write what the summary.json of each run holds, under the run's name, to this "
                 "file too. Default: none");
  if (PrintsHelp(app, argc, argv)) return 0;
  for (std::string& folder : folders) folder = UserPath(folder);
  out = UserPath(out);
  json = UserPath(json);
  CheckOutput("report", "--out", out);
  CheckOutput("report", "--json", json);
  if (out.empty())
    out =
        folders.size() == 1 ? recipes::RunFolder{folders[0]}.report() : UserPath("comparison.html");
  WriteOutput(out, Render(folders));
  if (!json.empty()) WriteOutput(json, Summaries(folders));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("report", [&] { return torus::tools::Main(argc, argv); });
}
