// Speed of byte-level BPE, in bytes of text per second on one thread: tiny Shakespeare and the King
// James Bible from TORUS_DATA, with the vocabularies of GPT-2 and RoBERTa. Each run begins with an
// empty cache of words, as tools/tokenize does.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "data/files/file.h"
#include "data/text/open_tokenizer.h"

namespace torus::data {
namespace {

std::string DataFolder() {
  const char* folder = std::getenv("TORUS_DATA");
  return folder == nullptr ? "" : folder;
}

void Bpe(benchmark::State& state, bool roberta, const std::string& text_name) {
  const std::string vocabulary = DataFolder() + "/bpe_gpt2_roberta",
                    text_path = DataFolder() + "/text/" + text_name;
  if (!std::filesystem::exists(vocabulary) || !std::filesystem::exists(text_path))
    return state.SkipWithError("TORUS_DATA has no such text or vocabulary");
  const std::vector<uint8_t> bytes = ReadFile(text_path);
  const std::string text(bytes.begin(), bytes.end());
  std::vector<int32_t> ids;
  for (auto _ : state) {
    state.PauseTiming();
    const auto tokenizer = roberta ? OpenRoberta(vocabulary) : OpenGpt2(vocabulary);
    ids.clear();
    state.ResumeTiming();
    tokenizer->Encode(text, &ids);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.counters["tokens"] = static_cast<double>(ids.size());
}

const bool registered = [] {
  for (const char* text : {"tinyshakespeare.txt", "kjv.txt"})
    for (const bool roberta : {false, true}) {
      const std::string name = fmt::format("bpe/{}/{}", roberta ? "roberta" : "gpt2", text);
      benchmark::RegisterBenchmark(name.c_str(), Bpe, roberta, text)->Unit(benchmark::kMillisecond);
    }
  return true;
}();

}  // namespace
}  // namespace torus::data
