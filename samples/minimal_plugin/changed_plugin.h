/* The minimal sample plugin with some of its functions changed, for tests. Include this, define
 * change_plugin, which gets a copy of the sample's table, and build the file as a plugin. */
#ifndef PRIMSET_SAMPLES_MINIMAL_PLUGIN_CHANGED_PLUGIN_H_
#define PRIMSET_SAMPLES_MINIMAL_PLUGIN_CHANGED_PLUGIN_H_

/* The sample as it is, but for its exported symbol. */
#define primset_plugin_query sample_plugin_query
#include "samples/minimal_plugin/minimal_plugin.c"  // NOLINT(bugprone-suspicious-include)
#undef primset_plugin_query

static void change_plugin(primset_plugin* plugin);

PRIMSET_PLUGIN_EXPORT primset_status* primset_plugin_query(const primset_host* host,
                                                           uint32_t min_version,
                                                           uint32_t max_version,
                                                           const primset_plugin** out_plugin) {
  static primset_plugin changed;
  const primset_plugin* sample;
  primset_status* status = sample_plugin_query(host, min_version, max_version, &sample);
  *out_plugin = NULL;
  if (status) return status;
  changed = *sample;
  change_plugin(&changed);
  *out_plugin = &changed;
  return NULL;
}

#endif /* PRIMSET_SAMPLES_MINIMAL_PLUGIN_CHANGED_PLUGIN_H_ */
