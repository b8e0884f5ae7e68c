// Draws the sums of one step: who sends what to whom, and who waits.
#pragma once

#include <string>

#include "tools/labs/train_with/message_times.h"

namespace torus::tools::labs {

// An SVG element in the colours of a study's page. It has a row for each rank with its waits for
// messages, starting when the first rank begins to sum, and a line for each message from the
// sender's row to the receiver's. Of more than 2000 messages it shows the first 2000. `times` must
// hold a step.
std::string RingPicture(const SumTimes& times);
// What it shows, for its caption: "24 messages", "the first 2000 of 2400 messages".
std::string MessagesShown(const SumTimes& times);

}  // namespace torus::tools::labs
