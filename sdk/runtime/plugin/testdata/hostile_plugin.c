/* The mock plugin with one lie or one misdeed, which the environment names:
 *
 *   PRIMSET_HOSTILE="deed PLACE DEED"       DEED (exit, abort ...) in PLACE, a function of the
 *                                           plugin or its constructor
 *   PRIMSET_HOSTILE="null MEMBER"           that function of the table is NULL
 *   PRIMSET_HOSTILE="extension TABLE.MEMBER"    the same of an optional table
 *   PRIMSET_HOSTILE="short TABLE"           the struct_size of an optional table is 4
 *   PRIMSET_HOSTILE="property FIELD VALUE"  a device property
 *   PRIMSET_HOSTILE="table FIELD VALUE"     another member of the table
 *   PRIMSET_HOSTILE="status KIND"           a failing call with such a status
 *   PRIMSET_HOSTILE="fails FUNCTION CODE"   that function fails, with this status code
 *   PRIMSET_HOSTILE="reached VALUE"         what every event says to a query
 *   PRIMSET_HOSTILE="handle FUNCTION"       success without a handle
 *   PRIMSET_HOSTILE="count VALUE"           so many devices
 */
#define _GNU_SOURCE
#define MOCK_NAME "hostile"
#define primset_plugin_query mock_plugin_query
#include "mock_plugin.c" /* NOLINT(bugprone-suspicious-include) */
#undef primset_plugin_query

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#define ESCAPES "\x1b[31mred\x1b[0m\n\xff"
#define MEGABYTE (1u << 20)

void hostile_throw(void);

static char kind[32], what[64], value[64];

static int is(const char* k, const char* w) { return !strcmp(kind, k) && !strcmp(what, w); }

static const primset_host* its_host;

static void log_without_end(void) {
  static char line[10000];
  memset(line, 'x', sizeof(line) - 1);
  its_host->log(its_host, PRIMSET_LOG_ERROR, line);
  for (;;) its_host->log(its_host, PRIMSET_LOG_ERROR, "short");
}

/* A process that stays when this one ends, and holds its descriptors; it leaves its number. */
static void leave_a_process(void) {
  const char* file = getenv("PRIMSET_HOSTILE_LEFT");
  FILE* out;
  if (fork() != 0) _exit(7);
  out = fopen(file, "w");
  fprintf(out, "%d", (int)getpid());
  fclose(out);
  for (;;) pause();
}

static void misbehave(const char* place) {
  if (!is("deed", place)) return;
  if (!strcmp(value, "exit")) exit(0);
  if (!strcmp(value, "exit_now")) _exit(7);
  if (!strcmp(value, "abort")) abort();
  if (!strcmp(value, "crash")) raise(SIGSEGV);
  if (!strcmp(value, "sleep")) {
    for (;;) pause();
  }
  if (!strcmp(value, "throw")) hostile_throw();
  if (!strcmp(value, "close")) {
    int fd;
    for (fd = 0; fd < 1024; ++fd) close(fd);
    for (;;) pause();
  }
  if (!strcmp(value, "end_thread")) pthread_exit(NULL);
  if (!strcmp(value, "log")) log_without_end();
  if (!strcmp(value, "leave")) leave_a_process();
  if (!strcmp(value, "mute")) {
    close(1);
    close(2);
    for (;;) pause();
  }
  if (!strcmp(value, "print")) {
    for (;;) printf("%s\n", ESCAPES);
  }
  if (!strcmp(value, "pretend")) {
    static const char lie[] =
        "{\"device\":0,\"title\":\"\\u001b[31m\",\"version\":[],\"memory_bytes\":-1}\n"
        "{\"device\":\"cpu:0\",\"title\":\"x\"}\n{\"device\":4294967296}\n{\"done\":true}\n";
    if (write(3, lie, sizeof(lie) - 1) < 0) _exit(8);
    pause();
  }
  if (!strcmp(value, "forge")) {
    static const char lie[] = "{\"device\":7}\n[1,2]\n{\"done\"\n\xff\xfe\n{\"error\":{}}\n";
    if (write(3, lie, sizeof(lie) - 1) < 0) _exit(8);
    raise(SIGKILL);
  }
}

static void read_environment(void) {
  const char* text = getenv("PRIMSET_HOSTILE");
  if (text) sscanf(text, "%31s %63s %63s", kind, what, value);
}

__attribute__((constructor)) static void constructor(void) {
  read_environment();
  misbehave("constructor");
}

/* --- the table and its functions ---------------------------------------------------------------
 */

static char* megabyte_text(void) {
  char* text = malloc(MEGABYTE);
  memset(text, 'a', MEGABYTE - 1);
  text[MEGABYTE - 1] = 0;
  return text;
}

static primset_status* hostile_status(void) {
  static primset_status s = {sizeof(primset_status), PRIMSET_INTERNAL, "told", status_release};
  if (!strcmp(what, "no_size")) s.struct_size = 0;
  if (!strcmp(what, "no_release")) s.release = NULL;
  if (!strcmp(what, "no_message")) s.message = NULL;
  if (!strcmp(what, "escapes")) s.message = ESCAPES;
  if (!strcmp(what, "megabyte")) s.message = megabyte_text();
  if (!strcmp(what, "code")) s.code = 77;
  if (!strcmp(kind, "fails")) s.code = (uint32_t)strtoul(value, NULL, 0);
  return &s;
}

static primset_status* hostile_count(const primset_plugin* self, uint32_t* out_count) {
  (void)self;
  misbehave("device_count");
  *out_count = 2;
  if (!strcmp(kind, "count")) *out_count = (uint32_t)strtoul(what, NULL, 0);
  return !strcmp(kind, "status") ? hostile_status() : NULL;
}

static primset_status* hostile_open(const primset_plugin* self, uint32_t index,
                                    primset_device* out_device) {
  misbehave("device_open");
  if (index == 1) misbehave("second_device_open");
  if (is("handle", "device_open")) return NULL;
  if (is("fails", "device_open")) return hostile_status();
  return device_open(self, index, out_device);
}

#define FIELD(name) \
  {#name, offsetof(primset_device_properties, name), sizeof(((primset_device_properties*)0)->name)}
static const struct {
  const char* name;
  size_t offset, size;
} fields[] = {FIELD(struct_size),        FIELD(kernel_format),
              FIELD(memory_bytes),       FIELD(dtypes),
              FIELD(features),           FIELD(memory_alignment),
              FIELD(max_param_bytes),    FIELD(threads),
              FIELD(vector_bytes),       FIELD(group_threads),
              FIELD(max_group_threads),  FIELD(group_memory),
              FIELD(min_subgroup),       FIELD(max_subgroup),
              FIELD(loop_limit),         FIELD(keep_nan_widths),
              FIELD(round_even_widths),  FIELD(keep_denorm_widths),
              FIELD(large_group_memory), FIELD(numerics)};

/* All that SIMT devices must have: a lie about one of these is the only one. */
static void be_simt(primset_device_properties* out) {
  out->kernel_format = PRIMSET_FORMAT_SPIRV_VULKAN;
  out->group_threads = 64;
  out->max_group_threads = 256;
  out->min_subgroup = out->max_subgroup = 32;
}

static primset_status* hostile_properties(primset_device device, primset_device_properties* out) {
  primset_status* status = device_properties(device, out);
  size_t i;
  unsigned long long number = strtoull(value, NULL, 0);
  misbehave("device_properties");
  if (is("fails", "device_properties")) return hostile_status();
  if (is("text", "title")) strcpy(out->name, ESCAPES);
  if (is("text", "no_end")) memset(out->name, 'n', sizeof(out->name));
  if (is("property", "max_groups")) out->max_groups[1] = (uint32_t)number;
  if (is("property", "llvm_cpu")) out->llvm_cpu = megabyte_text();
  if (is("property", "llvm_triple")) out->llvm_triple = megabyte_text();
  if (is("property", "llvm_features")) out->llvm_features = megabyte_text();
  if (!strcmp(kind, "simt")) be_simt(out);
  if (strcmp(kind, "property") != 0 && strcmp(kind, "simt") != 0) return status;
  for (i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
    if (strcmp(fields[i].name, what) != 0) continue;
    memcpy((char*)out + fields[i].offset, &number, fields[i].size); /* little endian */
  }
  return status;
}

/* Copies of the optional tables, changed. Each is a size, a reserved number and functions. */
static primset_status* find_nothing(primset_device device, const char* name,
                                    const primset_primitive_call* call, primset_primitive* out) {
  (void)device, (void)name, (void)call, (void)out;
  return hostile_status();
}

static uint64_t no_address(primset_device device, primset_buffer buffer) {
  (void)device, (void)buffer;
  return 0;
}

static primset_status* recording_end_null(primset_stream stream, primset_recording* out) {
  (void)stream, (void)out;
  return NULL;
}

static primset_status* recording_end_fails(primset_stream stream, primset_recording* out) {
  (void)stream, (void)out;
  return hostile_status();
}

static const void* hostile_extension(primset_device device, const char* name) {
  static primset_host_memory host_memory;
  static primset_recordings recordings;
  static primset_primitives primitives = {sizeof(primset_primitives), 0, find_nothing};
  static primset_device_addresses addresses = {sizeof(primset_device_addresses), 0, no_address};
  misbehave("device_extension");
  memcpy(&host_memory, device_extension(device, PRIMSET_EXT_HOST_MEMORY), sizeof(host_memory));
  memcpy(&recordings, device_extension(device, PRIMSET_EXT_RECORDING), sizeof(recordings));
  if (is("extension", "host_memory.address")) host_memory.address = NULL;
  if (is("extension", "host_memory.import")) host_memory.import = NULL;
  if (is("extension", "primitives.find")) primitives.find = NULL;
  if (is("extension", "device_addresses.address")) addresses.address = NULL;
  if (is("extension", "recordings.begin")) recordings.begin = NULL;
  if (is("extension", "recordings.end")) recordings.end = NULL;
  if (is("extension", "recordings.play")) recordings.play = NULL;
  if (is("extension", "recordings.destroy")) recordings.destroy = NULL;
  if (is("handle", "recordings.end")) recordings.end = recording_end_null;
  if (!strcmp(kind, "abandon")) recordings.end = recording_end_fails;
  if (is("short", "host_memory")) host_memory.struct_size = 4;
  if (is("short", "recordings")) recordings.struct_size = 4;
  if (is("short", "primitives")) primitives.struct_size = 4;
  if (is("short", "device_addresses")) addresses.struct_size = 4;
  if (!strcmp(name, PRIMSET_EXT_HOST_MEMORY)) return &host_memory;
  if (!strcmp(name, PRIMSET_EXT_RECORDING)) return &recordings;
  if (!strcmp(name, PRIMSET_EXT_PRIMITIVES)) return &primitives;
  if (!strcmp(name, PRIMSET_EXT_DEVICE_ADDRESS)) return &addresses;
  return NULL;
}

static primset_status* no_buffer(primset_device d, uint64_t bytes, primset_buffer* out) {
  (void)d, (void)bytes, (void)out;
  return NULL;
}
static primset_status* no_stream(primset_device d, primset_stream* out) {
  (void)d, (void)out;
  return NULL;
}
static primset_status* no_event(primset_device d, primset_event* out) {
  (void)d, (void)out;
  return NULL;
}
static primset_status* no_module(primset_device d, const primset_module_desc* desc,
                                 primset_module* out) {
  (void)d, (void)desc, (void)out;
  return NULL;
}
static primset_status* no_kernel(primset_module m, primset_kernel* out) {
  (void)m, (void)out;
  return NULL;
}

static primset_status* any_reached(primset_event event, uint32_t* out_reached) {
  (void)event;
  *out_reached = (uint32_t)strtoul(what, NULL, 0);
  return NULL;
}

/* The functions of the table that fail. */
#define FAILING(name, ...) \
  static primset_status* name##_fails(__VA_ARGS__) { return hostile_status(); }
FAILING(memory_alloc, primset_device a, uint64_t b, primset_buffer* c)
FAILING(copy_in, primset_stream a, primset_buffer b, uint64_t c, const void* d, uint64_t e)
FAILING(copy_out, primset_stream a, primset_buffer b, uint64_t c, void* d, uint64_t e)
FAILING(copy, primset_stream a, primset_buffer b, uint64_t c, primset_buffer d, uint64_t e,
        uint64_t f)
FAILING(fill, primset_stream a, primset_buffer b, uint64_t c, uint64_t d, const void* e, uint32_t f)
FAILING(stream_create, primset_device a, primset_stream* b)
FAILING(stream_synchronize, primset_stream a)
FAILING(event_create, primset_device a, primset_event* b)
FAILING(event_record, primset_event a, primset_stream b)
FAILING(event_query, primset_event a, uint32_t* b)
FAILING(event_synchronize, primset_event a)
FAILING(stream_wait_event, primset_stream a, primset_event b)
FAILING(module_load, primset_device a, const primset_module_desc* b, primset_module* c)
FAILING(module_kernel, primset_module a, primset_kernel* b)
FAILING(launch, primset_stream a, const primset_launch* b)

#define FAIL(name) \
  if (is("fails", #name)) table->name = name##_fails
static void fail_functions(primset_plugin* table) {
  FAIL(memory_alloc);
  FAIL(copy_in);
  FAIL(copy_out);
  FAIL(copy);
  FAIL(fill);
  FAIL(stream_create);
  FAIL(stream_synchronize);
  FAIL(event_create);
  FAIL(event_record);
  FAIL(event_query);
  FAIL(event_synchronize);
  FAIL(stream_wait_event);
  FAIL(module_load);
  FAIL(module_kernel);
  FAIL(launch);
  if (!strcmp(kind, "reached")) table->event_query = any_reached;
}

#define MEMBER(name) {#name, offsetof(primset_plugin, name)}
static const struct {
  const char* name;
  size_t offset;
} members[] = {MEMBER(release),
               MEMBER(device_count),
               MEMBER(device_open),
               MEMBER(device_close),
               MEMBER(device_properties),
               MEMBER(device_extension),
               MEMBER(memory_alloc),
               MEMBER(memory_free),
               MEMBER(copy_in),
               MEMBER(copy_out),
               MEMBER(copy),
               MEMBER(fill),
               MEMBER(stream_create),
               MEMBER(stream_destroy),
               MEMBER(stream_synchronize),
               MEMBER(event_create),
               MEMBER(event_destroy),
               MEMBER(event_record),
               MEMBER(event_query),
               MEMBER(event_synchronize),
               MEMBER(stream_wait_event),
               MEMBER(module_load),
               MEMBER(module_unload),
               MEMBER(module_kernel),
               MEMBER(launch),
               MEMBER(name),
               MEMBER(version),
               MEMBER(vendor)};

static void change_texts(primset_plugin* table) {
  if (is("table", "struct_size")) table->struct_size = (uint32_t)strtoul(value, NULL, 0);
  if (is("table", "abi_version")) table->abi_version = (uint32_t)strtoul(value, NULL, 0);
  if (is("text", "name")) table->name = ESCAPES;
  if (is("text", "empty_name")) table->name = "";
  if (is("text", "long_name")) table->name = megabyte_text();
  if (is("text", "line_name")) table->name = "hostile\nother";
  if (is("text", "version")) table->version = ESCAPES;
  if (is("text", "vendor")) table->vendor = ESCAPES;
  if (is("text", "long_version")) table->version = megabyte_text();
}

static void change_functions(primset_plugin* table) {
  size_t i;
  table->device_count = hostile_count;
  table->device_open = hostile_open;
  table->device_properties = hostile_properties;
  table->device_extension = hostile_extension;
  fail_functions(table);
  if (is("handle", "memory_alloc")) table->memory_alloc = no_buffer;
  if (is("handle", "stream_create")) table->stream_create = no_stream;
  if (is("handle", "event_create")) table->event_create = no_event;
  if (is("handle", "module_load")) table->module_load = no_module;
  if (is("handle", "module_kernel")) table->module_kernel = no_kernel;
  for (i = 0; i < sizeof(members) / sizeof(members[0]); ++i) {
    if (is("null", members[i].name)) memset((char*)table + members[i].offset, 0, sizeof(void*));
  }
}

PRIMSET_PLUGIN_EXPORT primset_status* primset_plugin_query(const primset_host* host,
                                                           uint32_t min_version,
                                                           uint32_t max_version,
                                                           const primset_plugin** out_plugin) {
  static primset_plugin changed;
  const primset_plugin* mock;
  mock_plugin_query(host, min_version, max_version, &mock);
  its_host = host;
  read_environment(); /* it may have stayed loaded since the last time */
  misbehave("primset_plugin_query");
  changed = *mock;
  change_texts(&changed);
  change_functions(&changed);
  *out_plugin = is("table", "none") ? NULL : &changed;
  return is("query", "fails") ? hostile_status() : NULL;
}
