#include "tools/labs/questions/lab.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/usable_cores.h"
#include "tools/common/stop_signal.h"
#include "tools/labs/questions/communication.h"
#include "tools/labs/questions/drift.h"
#include "tools/labs/questions/epoch_time.h"
#include "tools/labs/questions/kept_runs.h"
#include "tools/labs/questions/large_batch.h"
#include "tools/labs/questions/remedies.h"
#include "tools/labs/questions/scaling.h"
#include "tools/labs/questions/set_epoch.h"
#include "tools/labs/questions/wire.h"

namespace torus::labs {
namespace {

using study::Heading;
using study::Page;
using study::Paragraph;

std::string RunLine(const Lab& lab, const LabOptions& o) {
  const int64_t ranks = lab.one_rank ? 1 : o.ranks.back();
  return fmt::format("{} on {}, {}; {}{} rank{} with {} thread{} each.", o.settings.model,
                     o.settings.data, o.settings.device, ranks == 1 ? "" : "up to ", ranks,
                     ranks == 1 ? "" : "s", o.rank_threads, o.rank_threads == 1 ? "" : "s");
}

// If ranks share cores, says what follows from it.
std::string CoresLine(const Lab& lab, const LabOptions& o) {
  const int64_t most = (lab.one_rank ? 1 : o.ranks.back()) * o.rank_threads,
                cores = CoresOfProcess().count;
  if (o.settings.device == "cuda" || most <= cores) return "";
  return fmt::format(
      " {} threads share {} cores: beyond {} ranks nothing can become faster, whatever the "
      "communication costs. Read those rows with that in mind.",
      most, cores, std::max<int64_t>(1, cores / o.rank_threads));
}

std::string ImagesLine(const LabOptions& o) {
  if (o.images == 0) return "All training images.";
  return fmt::format("The first {} training images{}.", o.images,
                     o.quick ? ": a quick look, not the whole answer" : "");
}

void AddTask(const Lab& lab, Page& page) {
  for (const std::string& paragraph : lab.task) page.parts.emplace_back(Paragraph{paragraph});
}

Page AnswerPage(const Lab& lab, const LabOptions& o, const Tell& tell) {
  Page page{fmt::format("Question {}: {}", lab.question, lab.title),
            fmt::format("{} {}{}", RunLine(lab, o), ImagesLine(o), CoresLine(lab, o)),
            {}};
  AddTask(lab, page);
  for (study::Part& part : lab.answer(o, tell)) page.parts.push_back(std::move(part));
  return page;
}

// The report to fill in. One that is there may have been filled in, and stays.
std::string ReportFor(const Lab& lab, const LabOptions& options) {
  const std::string name = lab.name + "_report";
  for (const char* ending : {".html", ".md", ".csv"}) {
    const std::string there = fmt::format("{}/{}{}", options.out, name, ending);
    if (std::filesystem::exists(there)) return there;
  }
  return study::WritePage(BlankReport(lab, options), options.out, name);
}

void Print(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// What is told while the runs go on, for the page of a question that is ended early.
class Told {
 public:
  Tell Recorder() {
    return [this](const std::string& line) {
      lines_.push_back(line);
      Print(line);
    };
  }
  // Writes them as a page of their own: one that is complete stays as it is.
  int Stopped(const Lab& lab, const LabOptions& o) const {
    const std::string goes_on = "the same command goes on behind the last complete run";
    if (lines_.empty()) {
      Print("stopped before anything was measured");
      return 128 + tools::StopSignal();
    }
    Page page{fmt::format("Question {}: {}, so far", lab.question, lab.title), RunLine(lab, o), {}};
    page.parts.emplace_back(Paragraph{"Stopped before its end; " + goes_on + "."});
    for (const std::string& line : lines_) page.parts.emplace_back(Paragraph{line});
    Print(fmt::format("stopped; so far: {}\n{}", study::WritePageSoFar(page, o.out, lab.name),
                      goes_on));
    return 128 + tools::StopSignal();
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace

const std::vector<Lab>& Labs() {
  static const std::vector<Lab> all{EpochTimeLab(),   SpeedUpLab(),      CommunicationLab(),
                                    BandwidthLab(),   LargeBatchLab(),   RemediesLab(),
                                    SampleOrderLab(), WireContentsLab(), GradientsAloneLab()};
  return all;
}

const Lab& LabByName(const std::string& name) {
  const auto found = std::ranges::find(Labs(), name, &Lab::name);
  if (found != Labs().end()) return *found;
  std::vector<std::string> names;
  for (const Lab& lab : Labs()) names.push_back(lab.name);
  Throw<BadInput>("labs", "there are {}, got \"{}\"", fmt::join(names, ", "), name);
}

Page BlankReport(const Lab& lab, const LabOptions& options) {
  Page page{fmt::format("Report on question {}: {}", lab.question, lab.title),
            "Name: ______________________   Date: ______________   Machine: ______________________",
            {}};
  AddTask(lab, page);
  int number = 0;
  for (const Asked& asked : lab.report(options)) {
    page.parts.emplace_back(Heading{fmt::format("{}. {}", ++number, asked.question)});
    if (asked.table)
      page.parts.emplace_back(*asked.table);
    else
      for (int line = 0; line < 3; ++line)
        page.parts.emplace_back(Paragraph{fmt::format("{:_<72}", "")});
  }
  return page;
}

int LabMain(const std::string& name, int argc, const char* const* argv) {
  const Lab& lab = LabByName(name);
  LabOptions options;
  if (ParseLabFlags(name, lab.title, argc, argv, options)) return 0;
  Require(options.ranks.back() >= lab.least_ranks, name,
          "this question compares ranks: --ranks must be {} or more, got {}", lab.least_ranks,
          options.ranks.back());
  if (!options.blank) FindData(name, options);
  Print(fmt::format("report to fill in: {}", ReportFor(lab, options)));
  if (options.blank) return 0;
  tools::CatchStopSignals();
  Told told;
  try {
    const Page page = AnswerPage(lab, options, told.Recorder());
    Print(fmt::format("\n{}", study::ToText(page)));
    Print(fmt::format("page: {}", study::WritePage(page, options.out, name)));
  } catch (const tools::Stopped&) {
    return told.Stopped(lab, options);
  }
  std::error_code ignored;
  std::filesystem::remove_all(options.out + "/" + kKeptTimes, ignored);
  return 0;
}

}  // namespace torus::labs
