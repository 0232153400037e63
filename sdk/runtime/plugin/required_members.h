// The functions that the tables of a plugin must have, and the check that they do: one table of
// required members for each table of plugin.h.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_REQUIRED_MEMBERS_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_REQUIRED_MEMBERS_H_

#include <primset/plugin.h>

#include <string>
#include <string_view>

namespace primset::plugin {

// "launch" for the first function of the table that is NULL; null when all are there. The table has
// the size that it must have.
const char* missing_function(const primset_plugin& table);

// What is wrong with an optional table, not null, that a plugin returned for `id` (PRIMSET_EXT_*):
// its struct_size, or a function that is NULL. Empty when nothing is, and for other ids.
std::string extension_fault(const void* table, std::string_view id);

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_REQUIRED_MEMBERS_H_
