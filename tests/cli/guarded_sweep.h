// tests/cli/guarded_sweep.h: a curve of two points, and the gate's two verbs on it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/cli/small_sweep.h"

namespace tests_cli {

inline std::string guarded_sweep(const std::string& values) {
  return "format = 1\nbase = \"base.toml\"\n[sweep]\nseeds = \"1..12\"\narms = [\"decoupled\"]\n"
         "[[sweep.axis]]\nkey = \"failure.chips.mtbi\"\nvalues = [" + values + "]\n";
}

inline void write_guarded(const Place& place) {
  place.write("base.toml", goodput_scenario());
  place.write("curve.toml", guarded_sweep("\"30 d\", \"90 d\""));
}

inline Outcome gate(const Place& place, std::vector<std::string> words) { return atoll(std::move(words), place.root); }

inline Outcome check(const Place& place, std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"check", "curve.toml", "--baseline", "b.json"});
  return gate(place, std::move(words));
}

}  // namespace tests_cli
