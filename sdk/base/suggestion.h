// Names as messages show them: what an unknown name was meant to be, and what could stand there.
#ifndef PRIMSET_SDK_BASE_SUGGESTION_H_
#define PRIMSET_SDK_BASE_SUGGESTION_H_

#include <string>
#include <string_view>
#include <vector>

namespace primset {

// The candidate nearest to `name` by edit distance, when it is near enough to be meant; else empty.
std::string nearest(std::string_view name, const std::vector<std::string_view>& candidates);

// The tail of a message about an unknown name: "'x' (did you mean 'y'?)" or "'x'".
std::string quote_with_suggestion(std::string_view name,
                                  const std::vector<std::string_view>& candidates);

// "a, b or c".
std::string one_of(const std::vector<std::string_view>& names);

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_SUGGESTION_H_
