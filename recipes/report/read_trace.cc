#include "recipes/report/read_trace.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

int64_t Nanoseconds(const Json& microseconds) {
  return std::llround(1000 * microseconds.get<double>());
}

trace::Event ToEvent(const Json& json) {
  const Json& args = json.at("args");
  const int64_t begin = Nanoseconds(json.at("ts"));
  return {.name = json.at("name"),
          .category = json.at("cat"),
          .rank = json.at("tid"),
          .begin_ns = begin,
          .end_ns = begin + Nanoseconds(json.at("dur")),
          .step = args.value("step", int64_t{-1}),
          .micro_batch = args.value("micro_batch", int64_t{-1})};
}

}  // namespace

std::vector<trace::Event> ReadChromeTrace(const std::string& path) {
  const Json json = io::ParseJsonObject(io::InputFile(path).ReadAll(), path);
  std::vector<trace::Event> events;
  try {
    for (const Json& event : json.at("traceEvents"))
      if (event.at("ph") == "X") events.push_back(ToEvent(event));
  } catch (const Json::exception&) {
    Throw<BadInput>(
        path,
        "must be a trace of a run: \"traceEvents\" with ph, name, cat, tid, ts, dur and "
        "args each");
  }
  return events;
}

}  // namespace torus::recipes
