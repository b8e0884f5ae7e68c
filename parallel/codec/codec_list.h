// The list of codecs: those of parallel/codec, and what an application adds to them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/codec/codec_text.h"
#include "parallel/codec/transform.h"

namespace torus::parallel {

// An entry of the list: a codec, a transform (the first part of a chain), or a codec around
// another. Exactly one of the three functions is set.
struct CodecEntry {
  std::string name;                   // "uniform": what a codec's text begins with
  std::string written;                // for help texts: "uniform:BITS[:stochastic]"
  std::string about;                  // for help texts: what it does, in one phrase
  std::vector<std::string> examples;  // texts for tables and tests, at least one: "uniform:8"
  std::function<std::unique_ptr<Codec>(const CodecPart&)> codec = nullptr;
  std::function<std::unique_ptr<Transform>(const CodecPart&)> transform = nullptr;
  std::function<std::unique_ptr<Codec>(std::unique_ptr<Codec>)> around = nullptr;
};

// Adds a codec of an application's own under its name. From then on every text may name it, alone
// and in others: "sign", "ef(sign)", "topk:0.1+sign"; so every flag and setting that takes a codec
// takes it, and a run that was stored with it can be resumed. All processes of a run must add the
// same ones, before they begin it. May be called from any thread.
//
//   RegisterCodec({.name = "sign",
//                  .written = "sign",
//                  .about = "a bit for each value",
//                  .examples = {"sign"},
//                  .codec = [](const CodecPart&) { return std::make_unique<Sign>(); }});
//
// Throws BadInput if the name is taken or is not made of small letters, digits and '_' behind a
// letter, if there is no example, or if not exactly one function is set.
void RegisterCodec(CodecEntry entry);

// The entries as they are now, in the order of the list.
std::shared_ptr<const std::vector<CodecEntry>> ListedCodecs();

}  // namespace torus::parallel
