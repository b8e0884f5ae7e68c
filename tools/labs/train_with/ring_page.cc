#include "tools/labs/train_with/ring_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/labs/train_with/message_times.h"
#include "tools/labs/train_with/ring_picture.h"

namespace torus::tools::labs {
namespace {

using Json = nlohmann::json;
using recipes::ReportInput;
using study::Heading;
using study::Paragraph;

int RanksOf(const RingPageInput& input) { return static_cast<int>(input.training.counts.size()); }

std::vector<double> LossesOf(const ReportInput& run) {
  std::vector<double> losses;
  for (const Json& line : run.metrics)
    if (line.at("kind") == "train" && line.at("loss").is_number())
      losses.push_back(line.at("loss"));
  return losses;
}

double StepsOf(const ReportInput& run) { return run.summary.at("steps_here").get<double>(); }

// Milliseconds a step that the ranks spend in sums, on average.
double ReduceMs(const ReportInput& run) {
  double seconds = 0;
  for (const Json& rank : run.summary.at("ranks"))
    seconds += rank.at("seconds").at("reduce").get<double>();
  return 1e3 * seconds / static_cast<double>(run.summary.at("ranks").size()) / StepsOf(run);
}

// Bytes that a rank sends in a step for sums, on average.
double SumBytes(const ReportInput& run) {
  double bytes = 0;
  for (const Json& link : run.summary.at("links"))
    if (link.at("what") == "all-reduce") bytes += link.at("sent_bytes").get<double>();
  return bytes / static_cast<double>(run.summary.at("ranks").size()) / StepsOf(run);
}

study::Cell ScoreOf(const ReportInput& run) {
  const Json& test = run.summary.at("test");
  if (test.is_null()) return {};
  if (test.contains("accuracy")) return 100 * test.at("accuracy").get<double>();
  return test.at("perplexity").is_number() ? study::Cell(test.at("perplexity").get<double>())
                                           : study::Cell();
}

std::string ScoreName(const ReportInput& run) {
  const Json& test = run.summary.at("test");
  return test.is_null() || test.contains("accuracy") ? "test accuracy" : "test perplexity";
}

void AddRow(study::Table& table, const std::string& name, const ReportInput& run) {
  const std::vector<double> losses = LossesOf(run);
  const auto tail = static_cast<std::ptrdiff_t>(std::min<size_t>(losses.size(), 10));
  double loss = 0;
  for (auto it = losses.end() - tail; it != losses.end(); ++it)
    loss += *it / static_cast<double>(tail);
  table.Add({name, StepsOf(run), losses.empty() ? study::Cell() : study::Cell(loss), ScoreOf(run),
             1e3 * run.summary.at("step_seconds").get<double>(), ReduceMs(run), SumBytes(run)});
}

study::Table Figures(const RingPageInput& input) {
  const std::string score = ScoreName(input.own);
  study::Table table("Both runs",
                     {{"gradients summed by"},
                      {"steps", "", 0},
                      {"loss of the last 10", "", 4},
                      {score, score == "test accuracy" ? "%" : "", 2},
                      {"step", "ms", 1},
                      {"of it in sums", "ms", 1},
                      {"sent by a rank in a step", "bytes", 0}},
                     "A step: the median. In sums: the mean over ranks and steps; waits for ranks "
                     "that come later are in it.");
  AddRow(table, input.file, input.ring);
  AddRow(table, "the trainer's own ring", input.own);
  return table;
}

// What the ring's messages add up to beside the bound of Patarasuk and Yuan.
std::string BytesText(const RingPageInput& input) {
  RingCounts all;
  for (const RingCounts& rank : input.training.counts) {
    all.sums += rank.sums;
    all.messages += rank.messages;
    all.elements += rank.elements;
    all.bytes += rank.bytes;
    all.largest_message = std::max(all.largest_message, rank.largest_message);
  }
  if (all.sums == 0) return "The ring came to the end of no sum.";
  const double n = RanksOf(input), sums = static_cast<double>(all.sums),
               tensor = 4 * static_cast<double>(all.elements) / sums;
  return fmt::format(
      "A sum has S = {:.0f} bytes on average. On {} ranks a ring sends 2 (n - 1) / n S = 2 x {} / "
      "{} x "
      "{:.0f} = {:.0f} bytes per rank; {} sent {:.0f}, in {:.1f} messages of at most {} bytes.",
      tensor, n, n - 1, n, tensor, 2 * (n - 1) / n * tensor, input.file,
      static_cast<double>(all.bytes) / sums, static_cast<double>(all.messages) / sums,
      all.largest_message);
}

study::Series SeriesOf(const std::string& name, const std::vector<double>& losses) {
  study::Series series{.name = name};
  for (size_t i = 0; i < losses.size(); ++i)
    series.points.push_back({static_cast<double>(i + 1), losses[i]});
  return series;
}

std::string PartsText(const std::vector<double>& ring, const std::vector<double>& own) {
  const auto [a, b] = std::ranges::mismatch(ring, own);
  if (a == ring.end() && b == own.end())
    return "The loss is the same in every step, so one curve covers the other.";
  return fmt::format("The losses part in step {}.", a - ring.begin() + 1);
}

void AddLosses(const RingPageInput& input, study::Page& page) {
  const std::vector<double> ring = LossesOf(input.ring), own = LossesOf(input.own);
  page.parts.emplace_back(Heading{"Loss"});
  page.parts.emplace_back(
      study::Plot{.title = "Training loss",
                  .x = {"step"},
                  .y = {"loss"},
                  .series = {SeriesOf("the trainer's own ring", own), SeriesOf(input.file, ring)},
                  .note = PartsText(ring, own)});
}

void AddTimeline(const RingPageInput& input, study::Page& page) {
  page.parts.emplace_back(Heading{"The messages of a step"});
  const SumTimes times = MessagesOf(input.ring.events, RanksOf(input));
  if (times.step < 0) {
    page.parts.emplace_back(Paragraph{"No step was traced whole."});
    return;
  }
  page.parts.emplace_back(study::Picture{
      RingPicture(times),
      fmt::format("Step {}, from the first rank that begins to sum to the last that is done: {}. "
                  "Of the steps that are traced it is the one with the shortest sums. Ranks "
                  "that share cores begin apart: the first ones wait for the last.",
                  times.step, MessagesShown(times))});
}

std::string Verdict(const RingPageInput& input) {
  const RingTraining& training = input.training;
  const std::string text = training.wrong_sum.empty()
                               ? "The sums that were checked (the first ones, then ever fewer) "
                                 "were right on all ranks. "
                               : "A sum was wrong: " + training.wrong_sum + ". ";
  if (!training.gave_up.empty())
    return text + "The run with your ring ended early: " + training.gave_up;
  return text + TextOf(training.difference, training.steps, training.other_order);
}

}  // namespace

study::Page RingPage(const RingPageInput& input) {
  study::Page page{
      "Training with " + input.file,
      fmt::format("{} on {} ranks, whose gradients are summed by AllReduceMean of {}; "
                  "and the same run with the trainer's own ring.",
                  input.ring.summary.at("title").get<std::string>(), RanksOf(input), input.file),
      {}};
  page.parts.emplace_back(Heading{"Result"});
  page.parts.emplace_back(Paragraph{Verdict(input)});
  page.parts.emplace_back(Figures(input));
  page.parts.emplace_back(Paragraph{BytesText(input)});
  AddLosses(input, page);
  AddTimeline(input, page);
  page.parts.emplace_back(Heading{"More"});
  page.parts.emplace_back(
      Paragraph{"Beside this page: ring/report.html and own/report.html show each run, with the "
                "timeline of a whole step; ring/trace.json has every message (ui.perfetto.dev)."});
  return page;
}

}  // namespace torus::tools::labs
