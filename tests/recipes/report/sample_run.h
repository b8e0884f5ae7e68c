// A run's figures for the tests of its page.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "parallel/schedule/factory.h"
#include "recipes/report/report.h"

namespace torus::recipes::testing {

inline nlohmann::json SampleRank(int rank) {
  nlohmann::json seconds;
  for (const char* key : {"forward", "backward", "transfer", "reduce", "optimizer", "data_wait",
                          "idle", "other", "wall"})
    seconds[key] = 1.0;
  return {{"rank", rank},         {"replica", 0},          {"stages", {rank}},
          {"weights_bytes", 100}, {"optimizer_bytes", 50}, {"seconds", seconds}};
}

// Two stages, whose title is an attempt at markup.
inline nlohmann::json SampleSummary() {
  return {{"title", "</script><script>alert(1)</script>"},
          {"settings",
           {{"stages", 2},
            {"replicas", 1},
            {"micro-batches", 2},
            {"schedule", "gpipe"},
            {"codec", "none"},
            {"threads", 2},
            {"init", ""}}},
          {"cuts", {4}},
          {"steps", 5},
          {"steps_here", 5},
          {"samples", 20},
          {"finished", true},
          {"error", nullptr},
          {"epochs_done", 1.5},
          {"seconds", 9.0},
          {"unit", "images"},
          {"samples_per_second", 12.0},
          {"test", {{"accuracy", 0.5}, {"loss", 1.0}, {"samples", 20}}},
          {"ranks", {SampleRank(0), SampleRank(1)}},
          {"links",
           {{{"from", 0},
             {"to", 1},
             {"what", "activations"},
             {"sent_bytes", 10},
             {"float32_bytes", 40}},
            {{"from", 1},
             {"to", 0},
             {"what", "gradients"},
             {"sent_bytes", 20},
             {"float32_bytes", 40}}}},
          {"bubble", {{"measured", 0.4}, {"ideal", 1.0 / 3}, {"balanced", 0.35}}},
          {"memory",
           {{"peak_bytes", 5}, {"held_bytes", 6}, {"weights_bytes", 1}, {"optimizer_bytes", 1}}}};
}

inline trace::Event SampleEvent(const char* category, int rank, int64_t begin, int64_t end,
                                int64_t step) {
  return {.name = category,
          .category = category,
          .rank = rank,
          .begin_ns = begin,
          .end_ns = end,
          .step = step,
          .micro_batch = 0};
}

// As a run leaves it that failed before its first Train call ended, so that nothing was counted.
inline ReportInput FailedReport(const std::string& error) {
  ReportInput report{.summary = SampleSummary(),
                     .metrics = {{{"kind", "train"}, {"step", 1}, {"loss", 2.0}}},
                     .events = {},
                     .schedule = parallel::MakeSchedule("gpipe", {2, 2})};
  report.summary.update({{"error", error},
                         {"finished", false},
                         {"steps", 1},
                         {"steps_here", 0},
                         {"samples", 0},
                         {"samples_per_second", 0},
                         {"seconds", 0.0},
                         {"test", nullptr},
                         {"ranks", nlohmann::json::array()},
                         {"links", nlohmann::json::array()}});
  return report;
}

// With one step traced and a curve of `losses`.
inline ReportInput SampleReport(const std::vector<double>& losses) {
  ReportInput report{.summary = SampleSummary(),
                     .metrics = {},
                     .events = {},
                     .schedule = parallel::MakeSchedule("gpipe", {2, 2})};
  int step = 0;
  for (double loss : losses)
    report.metrics.push_back(
        {{"kind", "train"}, {"step", ++step}, {"loss", loss}, {"seconds", 0.5}, {"samples", 4}});
  report.metrics.push_back(
      {{"kind", "test"}, {"step", step}, {"loss", losses.back()}, {"accuracy", 0.25}});
  for (int rank = 0; rank < 2; ++rank) {
    report.events.push_back(SampleEvent("forward", rank, 0, 1'000'000, 3));
    report.events.push_back(SampleEvent("backward", rank, 1'000'000, 3'000'000, 3));
  }
  return report;
}

}  // namespace torus::recipes::testing
