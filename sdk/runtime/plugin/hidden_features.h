// PRIMSET_HIDE=f64,i64: a device as it would be without what it has, to try plugins, conformance
// and models for such devices on a machine that has none.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_HIDDEN_FEATURES_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_HIDDEN_FEATURES_H_

#include <primset/plugin.h>

#include <string_view>

namespace primset::plugin {

// Takes features, and the dtypes that need them, out of the properties. Throws Error{value} for a
// name that is none, and says which there are.
void hide_features(std::string_view names, primset_device_properties& properties);

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_HIDDEN_FEATURES_H_
