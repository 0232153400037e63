// Selecting ids on the command line.
#ifndef PRIMSET_CONFORMANCE_CASES_IDS_FILTER_H_
#define PRIMSET_CONFORMANCE_CASES_IDS_FILTER_H_

#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace primset::conformance {

// `*` any text, `?` one character; everything else stands for itself. The whole text must match.
bool glob_matches(std::string_view pattern, std::string_view text);

// A list of patterns. A glob without ':' is held against the subject alone ("add.*", "prim/*"), one
// with ':' against the whole id. /.../ is a regular expression found anywhere in the id. A leading
// '-' takes away what the rest selects. No positive pattern at all selects everything.
class Filter {
 public:
  // Throws Error{value} for a regular expression that does not parse.
  explicit Filter(const std::vector<std::string>& patterns);
  bool matches(std::string_view id) const;
  // False when no id of the subject ("add.Tensor", "prim/add") can match: saves listing its cases.
  bool may_match_subject(std::string_view subject) const;

 private:
  struct Pattern {
    bool negative = false;
    bool is_regex = false;
    bool whole = false;  // a glob against the whole id
    std::string glob;
    std::regex regex;
    bool matches(std::string_view id) const;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_IDS_FILTER_H_
