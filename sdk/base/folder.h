// What is in a folder.
#ifndef PRIMSET_SDK_BASE_FOLDER_H_
#define PRIMSET_SDK_BASE_FOLDER_H_

#include <filesystem>
#include <string>
#include <vector>

namespace primset {

// The names in a folder but for "." and ".."; none where it cannot be read. Throws std::bad_alloc,
// where std::filesystem::directory_iterator with an error code ends the process.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_FOLDER_H_
