// Text of strangers (drivers, plugins, files) as it may stand in a terminal or a page: a terminal
// obeys escape codes, and what is not UTF-8 makes a whole page unreadable.
#ifndef PRIMSET_SDK_BASE_PRINTABLE_H_
#define PRIMSET_SDK_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace primset {

// The text with control characters, but for newline and tab, as \x1b, and each byte that is no part
// of a UTF-8 character as \xff. Controls of Unicode (C1, directions of text) are written so, too.
std::string printable(std::string_view text);

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_PRINTABLE_H_
