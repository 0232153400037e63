/* Primset plugin interface: how an accelerator joins Primset.
 *
 * IDEA
 *   A plugin is a shared library that exports one function, primset_plugin_query. It hands the host
 *   a table of functions: enumerate devices, allocate memory, copy, run kernels in order on a
 *   stream. The SDK brings every operator; it compiles kernels to the one format the device names
 *   in its properties, or, for a device without a code generator, calls the native primitives the
 *   plugin offers. Primset's own back ends use this header and nothing else.
 *
 * SCENARIO
 *   1. host: dlopen(RTLD_LOCAL), primset_plugin_query(host, min, max, &plugin)
 *   2. host: device_count, device_open, device_properties
 *   3. host: memory_alloc, stream_create, module_load, module_kernel
 *   4. host: copy_in, launch ..., copy_out, stream_synchronize
 *   5. host: everything in reverse; device_close; plugin->release; dlclose
 *
 * RULES THAT HOLD EVERYWHERE
 *   struct_size   The first member of every struct that crosses the boundary. The writer sets it to
 *                 its own sizeof. The reader touches only members below it; what is missing counts
 *                 as zero. Tables and structs are only ever appended to. The members of arrays
 *                 (primset_binding, primset_tensor, primset_attr) are fixed for ever.
 *   next          A chain of extension structs, NULL at its end; unknown ones are skipped.
 *   status        Every fallible function returns primset_status*: NULL is success. The receiver
 *                 calls status->release(status) once. On failure every output is set to NULL / 0.
 *   handles       Opaque pointers of the plugin. A handle is used only with the device it came
 *                 from.
 *   memory        A place in device memory is (buffer, byte offset), never a bare pointer. A range
 *                 of zero bytes is legal everywhere but in memory_alloc; its buffer may be NULL.
 *   file          A plugin's file is lib<name>_primset.so; <name> is primset_plugin.name. So the
 *                 host opens "acme:0" without loading any other plugin.
 *   unwinding     No exception, longjmp or signal handler crosses the boundary.
 *   threads       Each function carries a tag:
 *                   [any]     may be called from any thread at any time, concurrently with anything
 *                   [stream]  calls on one stream never overlap; different streams may
 *                   [device]  calls on one device never overlap with each other
 *   since         The ABI version a member appeared in. Version 1 is the first.
 */
#ifndef PRIMSET_PLUGIN_H_
#define PRIMSET_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PRIMSET_ABI_VERSION 1u

#if defined(_WIN32)
#define PRIMSET_PLUGIN_EXPORT __declspec(dllexport)
#else
#define PRIMSET_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* ---------------------------------------------------------------------------------------------- */
/* Types                                                                                          */
/* ---------------------------------------------------------------------------------------------- */

/* What went wrong. Codes are fixed for ever. */
enum {
  PRIMSET_OK = 0,
  PRIMSET_INVALID_ARGUMENT = 1, /* the host broke a rule of this header */
  PRIMSET_UNSUPPORTED = 2,      /* the device cannot do this; nothing happened */
  PRIMSET_OUT_OF_MEMORY = 3,    /* device or host memory; nothing happened */
  PRIMSET_DEVICE_LOST = 4,      /* the device is gone; all its handles may only be released */
  PRIMSET_LOAD_FAILED = 5,      /* a module was refused by the driver */
  PRIMSET_INTERNAL = 6          /* anything else */
};

/* Made by the side that fails, released by the side that receives. message is UTF-8, lives until
 * release, and says what was tried and with which values. */
typedef struct primset_status {
  uint32_t struct_size;
  uint32_t code;
  const char* message;
  void (*release)(struct primset_status* self); /* [any] never NULL */
} primset_status;

typedef struct primset_device_t* primset_device;
typedef struct primset_stream_t* primset_stream;
typedef struct primset_event_t* primset_event;
typedef struct primset_buffer_t* primset_buffer;
typedef struct primset_module_t* primset_module;
typedef struct primset_kernel_t* primset_kernel;

/* Element types: ATen's ScalarType codes. A set of them is a bit mask, 1 << code. BOOL is one byte,
 * 0 or 1; C32, C64 and C128 are two of F16, F32 and F64, the real part first. The sets have the
 * names that operators are specified with; a device needs no instructions for F8: kernels convert
 * them. */
/* From specs/dtypes.yaml, by `specgen dtypes`: */
enum {
  PRIMSET_U8 = 0,
  PRIMSET_I8 = 1,
  PRIMSET_I16 = 2,
  PRIMSET_I32 = 3,
  PRIMSET_I64 = 4,
  PRIMSET_F16 = 5,
  PRIMSET_F32 = 6,
  PRIMSET_F64 = 7,
  PRIMSET_C32 = 8,
  PRIMSET_C64 = 9,
  PRIMSET_C128 = 10,
  PRIMSET_BOOL = 11,
  PRIMSET_BF16 = 15,
  PRIMSET_F8_E5M2 = 23,
  PRIMSET_F8_E4M3FN = 24,
  PRIMSET_F8_E4M3FNUZ = 25,
  PRIMSET_F8_E5M2FNUZ = 26,
  PRIMSET_U16 = 27,
  PRIMSET_U32 = 28,
  PRIMSET_U64 = 29,
  PRIMSET_F8_E8M0FNU = 44
};
#define PRIMSET_DTYPES_UNSIGNED UINT64_C(0x38000001)
#define PRIMSET_DTYPES_SIGNED UINT64_C(0x1e)
#define PRIMSET_DTYPES_INTEGRAL UINT64_C(0x3800001f)
#define PRIMSET_DTYPES_INTEGRAL_BOOL UINT64_C(0x3800081f)
#define PRIMSET_DTYPES_INDEX UINT64_C(0x18)
#define PRIMSET_DTYPES_HALF UINT64_C(0x8020)
#define PRIMSET_DTYPES_FLOATING UINT64_C(0x80e0)
#define PRIMSET_DTYPES_FLOAT8 UINT64_C(0x100007800000)
#define PRIMSET_DTYPES_OPMATH_COMPLEX UINT64_C(0x600)
#define PRIMSET_DTYPES_COMPLEX UINT64_C(0x700)
#define PRIMSET_DTYPES_FLOATING_COMPLEX UINT64_C(0x87e0)
#define PRIMSET_DTYPES_NUMERIC UINT64_C(0x380080ff)
#define PRIMSET_DTYPES_NUMERIC_BOOL UINT64_C(0x380088ff)
#define PRIMSET_DTYPES_NUMERIC_COMPLEX UINT64_C(0x380087ff)
#define PRIMSET_DTYPES_NUMERIC_BOOL_COMPLEX UINT64_C(0x38008fff)
#define PRIMSET_DTYPES_ALL UINT64_C(0x10003f808fff)
/* End of what specgen wrote. */

/* The form in which a device takes kernels. */
enum {
  PRIMSET_FORMAT_NONE = 0,         /* none: native primitives only (PRIMSET_EXT_PRIMITIVES) */
  PRIMSET_FORMAT_NATIVE_IMAGE = 1, /* machine code for the host's CPU, see primset_native_image */
  PRIMSET_FORMAT_LLVM_BITCODE = 2, /* for properties.llvm_triple */
  PRIMSET_FORMAT_PTX = 3, /* text, NUL-terminated; the parameters lie as in the parameter block */
  PRIMSET_FORMAT_SPIRV_VULKAN = 4, /* GLCompute, PhysicalStorageBuffer64. The parameter block is the
                                      push constants if it has at most 128 bytes; else they are the
                                      8-byte address of a copy of it in device memory */
  PRIMSET_FORMAT_SPIRV_KERNEL = 5  /* OpenCL environment, Physical64; the kernel's arguments are the
                                      pointers, then each scalar (module_desc.scalar_sizes) */
};

/* primset_device_properties.features */
enum {
  PRIMSET_FEATURE_F64 = 1u << 0, /* kernels may compute in f64; needs I64, as which they see bits */
  /* ... and in 64-bit integers. Without it nothing in a kernel is one but addresses: indices are
   * 32 bits, and what needs more is refused. */
  PRIMSET_FEATURE_I64 = 1u << 1,
  PRIMSET_FEATURE_F16 = 1u << 2,            /* f16 loads, stores and conversions are native */
  PRIMSET_FEATURE_ATOMIC_I64 = 1u << 3,     /* 64-bit integer atomics on device memory */
  PRIMSET_FEATURE_ATOMIC_F32_ADD = 1u << 4, /* f32 atomic addition on device memory */
  PRIMSET_FEATURE_INT8 = 1u << 5,           /* 8-bit loads and stores */
  PRIMSET_FEATURE_INT16 = 1u << 6,          /* 16-bit loads and stores */
  /* Launches, copies, fills and native primitives are complete when the call returns, on every
   * stream. The SDK then neither tracks nor waits: an error is reported by the call itself. */
  PRIMSET_FEATURE_INLINE = 1u << 7,
  /* PTX: kernels may copy from device to workgroup memory asynchronously (cp.async). */
  PRIMSET_FEATURE_ASYNC_COPY = 1u << 8,
  /* PTX: subgroups have 32 lanes and multiply matrices of f16 and bf16, summed in f32
   * (ldmatrix, mma.m16n8k16). */
  PRIMSET_FEATURE_MATRIX = 1u << 9,
  /* SIMT formats: the subgroup has ballots, and shuffles from any lane; a workgroup's threads
   * belong to subgroups in the order of their ids. */
  PRIMSET_FEATURE_BALLOT = 1u << 10,
  /* PTX: four subgroups multiply matrices of f16 and bf16 that lie in workgroup memory, summed in
   * f32 (wgmma, of sm_90a alone). */
  PRIMSET_FEATURE_GROUP_MATRIX = 1u << 11,
  /* SPIR-V for Vulkan: subgroups have 32 lanes and multiply cooperative matrices of 16 x 16
   * elements of f16, or of bf16 too, summed in f32 (VK_KHR_cooperative_matrix,
   * VK_KHR_shader_bfloat16), beside PRIMSET_FEATURE_BALLOT and Vulkan's memory model, with the
   * device's scope. */
  PRIMSET_FEATURE_COOPERATIVE_F16 = 1u << 12,
  PRIMSET_FEATURE_COOPERATIVE_BF16 = 1u << 13,
  /* Streams run everything in order, whatever primset_launch.flags says. The SDK then does not
   * compute which launches are independent. */
  PRIMSET_FEATURE_IN_ORDER = 1u << 14,
  /* PTX: loads take cache policies (createpolicy, ld.global.L2::cache_hint), in the version of PTX
   * that LLVM writes for llvm_cpu: from sm_90 on. */
  PRIMSET_FEATURE_CACHE_POLICIES = 1u << 15,
  /* PTX, from sm_90 on: programmatic dependent launch. Every kernel begins with griddepcontrol.wait
   * and accesses no memory before it. The plugin may then let a launch start when the workgroups of
   * the previous launch in its stream have ended (programmatic stream serialization); the kernel
   * waits until their writes are visible. */
  PRIMSET_FEATURE_EARLY_START = 1u << 16
};

/* primset_device_properties.numerics: claims about arithmetic, held to by conformance. */
enum {
  PRIMSET_NUMERIC_FUSED_FMA = 1u << 0,     /* the fma instruction rounds once (f32 and f64) */
  PRIMSET_NUMERIC_EXACT_DIV_F32 = 1u << 1, /* f32 / and sqrt are correctly rounded */
  PRIMSET_NUMERIC_EXACT_DIV_F64 = 1u << 2, /* f64 / and sqrt are correctly rounded */
  PRIMSET_NUMERIC_FLUSH_F32 = 1u << 3,     /* f32 denormals are flushed to zero */
  PRIMSET_NUMERIC_KEEP_NAN_INF = 1u << 4,  /* NaN, inf and -0 are never optimised away */
  /* SPIR-V: the f32 Exp2 of GLSL.std.450 (native_exp2 in the Kernel flavour) is within 2^-22 of
   * 2^x, relatively, where that is 2^-126 or more, 1 / x within 2^-23 of the inverse for x from
   * 2^-126 to 2^126, and InverseSqrt (rsqrt) within 2^-22 of 1 / sqrt(x) for normal x > 0. */
  PRIMSET_NUMERIC_FAST_EXP2 = 1u << 5
};

typedef struct primset_device_properties {
  uint32_t struct_size;
  uint32_t kernel_format; /* PRIMSET_FORMAT_* */
  char name[128];         /* "NVIDIA H200", for people */
  uint64_t memory_bytes;  /* capacity; 0 if unknown */
  uint64_t dtypes;        /* element types that tensors on this device may have */
  uint32_t features;      /* PRIMSET_FEATURE_* */
  uint32_t numerics;      /* PRIMSET_NUMERIC_* */

  uint32_t memory_alignment;  /* every allocation is at least so aligned; a power of two */
  uint32_t max_param_bytes;   /* largest parameter block of a launch, >= 128 */
  uint32_t threads;           /* native images: how many threads one launch is spread over;
                                 SIMT formats: multiprocessors, 1 if unknown */
  uint32_t vector_bytes;      /* native images: preferred vector width; 0: the host's widest */
  uint32_t group_threads;     /* SIMT formats: threads of a usual workgroup, a power of two */
  uint32_t max_group_threads; /* SIMT formats */
  uint32_t group_memory;      /* SIMT formats: bytes of workgroup memory */
  uint32_t min_subgroup;      /* SIMT formats: smallest and largest subgroup; 1 if unknown */
  uint32_t max_subgroup;
  uint32_t max_groups[3]; /* largest grid in each dimension */
  uint32_t loop_limit;    /* iterations after which the driver ends a kernel's loops; 0: never */

  const char* llvm_triple; /* LLVM_BITCODE, PTX: target; live as long as the device; else NULL */
  const char* llvm_cpu;    /* "sm_90" */
  const char* llvm_features;
  void* next;

  /* SPIR-V formats: the float widths, as the sum 16 | 32 | 64, for which a kernel may state an
   * execution mode of SPV_KHR_float_controls; each mode for any choice of them. */
  uint32_t keep_nan_widths;    /* SignedZeroInfNanPreserve */
  uint32_t round_even_widths;  /* RoundingModeRTE */
  uint32_t keep_denorm_widths; /* DenormPreserve */
  /* PTX: the most bytes of workgroup memory that a kernel may request at launch, beyond
   * group_memory; 0: no more than that. Such a kernel declares one extern array, whose size is
   * primset_module_desc.group_memory. */
  uint32_t large_group_memory;
} primset_device_properties;

/* PRIMSET_FORMAT_NATIVE_IMAGE: the bytes given to module_load begin with this header. Map the whole
 * image at any page-aligned address, readable and executable, and call the entry; there is nothing
 * to relocate, link or initialise. */
typedef struct primset_native_image {
  char magic[8];         /* "PSIMAGE1" */
  uint32_t header_size;  /* sizeof(primset_native_image) */
  uint32_t machine;      /* the ELF e_machine code of the CPU, 62 for x86-64 */
  uint64_t image_size;   /* bytes, this header included */
  uint64_t entry_offset; /* bytes from the image's first byte to primset_native_entry */
} primset_native_image;

/* Runs workgroups first_group .. end_group - 1 of a launch of total_groups = groups[0]; such grids
 * have one dimension, groups[1] == groups[2] == 1. Calls for disjoint ranges may run at once on
 * several threads. params is the launch's parameter block, aligned to 8. */
typedef void (*primset_native_entry)(const void* params, uint64_t first_group, uint64_t end_group,
                                     uint64_t total_groups);

/* What a kernel does with a binding. */
enum { PRIMSET_ACCESS_READ = 1u, PRIMSET_ACCESS_WRITE = 2u };

/* A range of device memory that a kernel uses; its address becomes the kernel's next pointer. */
typedef struct primset_binding {
  primset_buffer buffer; /* NULL if size is 0; the address is then 0 */
  uint64_t offset;       /* bytes */
  uint64_t size;         /* bytes that the kernel may touch from offset on */
  uint32_t access;       /* PRIMSET_ACCESS_* */
  uint32_t reserved;
} primset_binding;

/* primset_launch.flags */
enum {
  /* The host promises that this launch touches nothing that a launch, copy or fill given to the
   * stream since the last one without this flag, that one included, writes, nor writes what such a
   * one reads: it may overlap them. Without the flag all earlier work on the stream is complete and
   * visible first, as it is for every copy and fill. A stream that runs everything in order may
   * ignore it. */
  PRIMSET_LAUNCH_INDEPENDENT = 1u << 0
};

/* One kernel over a grid of workgroups. The parameter block is the addresses of the first
 * module_desc.pointer_count bindings, 8 bytes each in order, followed by `scalars`:
 * 8 * pointer_count + scalar_bytes == module_desc.param_bytes. Further bindings are memory that the
 * kernel reaches through addresses it finds in memory (PRIMSET_EXT_DEVICE_ADDRESS). All that is
 * referenced from here may be reused when the call returns. A grid with a zero dimension is a legal
 * launch that runs nothing. */
typedef struct primset_launch {
  uint32_t struct_size;
  uint32_t flags;
  primset_kernel kernel;
  uint32_t groups[3];
  uint32_t binding_count; /* >= the module's pointer_count */
  const primset_binding* bindings;
  const void* scalars; /* aligned to 8 */
  uint32_t scalar_bytes;
  uint32_t reserved;
  void* next;
} primset_launch;

/* The argument of module_load: the one kernel of a module. */
typedef struct primset_module_desc {
  uint32_t struct_size;
  uint32_t format;        /* the device's kernel_format */
  const void* data;       /* aligned to 8; the plugin copies what it keeps */
  uint64_t size;          /* bytes */
  const char* entry;      /* the kernel's name, a C identifier */
  uint32_t group_size[3]; /* threads a workgroup; {1, 1, 1} for native images */
  uint32_t pointer_count; /* leading pointers in the parameter block */
  uint32_t param_bytes;   /* size of the whole block, a multiple of 8 */
  uint32_t group_memory;  /* bytes of workgroup memory the kernel declares */
  /* The scalars one by one, for formats in which each is an argument of its own: its size, 4 or 8
   * bytes. In the parameter block each lies at the next multiple of its size after the one before.
   */
  uint32_t scalar_count;
  uint32_t reserved;
  const uint32_t* scalar_sizes;
  void* next;
} primset_module_desc;

/* ---------------------------------------------------------------------------------------------- */
/* The host's side: what a plugin may ask of the SDK                                              */
/* ---------------------------------------------------------------------------------------------- */

enum {
  PRIMSET_LOG_DEBUG = 0,
  PRIMSET_LOG_INFO = 1,
  PRIMSET_LOG_WARNING = 2,
  PRIMSET_LOG_ERROR = 3
};

/* Receives what the host's cache holds. data is valid during the call. */
typedef void (*primset_cache_found)(void* context, const void* data, uint64_t bytes);

/* Lives as long as the plugin is loaded. */
typedef struct primset_host {
  uint32_t struct_size;
  uint32_t abi_version;
  const char* name; /* "primset 0.1.0" */
  /* [any] since 1. Text for the user's log; one line, UTF-8, without the newline. Bytes that are
   * no text are escaped. A line has at most 8 KiB; of each level, 1,000 lines a second and 10 MB in
   * a process are shown, and what is more is counted. */
  void (*log)(const struct primset_host* host, uint32_t level, const char* text);
  /* [any] since 1. A folder for the plugin's own files, or NULL. Nobody but the user can change
   * what is in it. For compiled code use cache_find. Owned by the host, which bounds
   * the bytes of files in it that are named
   *   <plugin>/<two hexadecimal digits>/<at least 14 more>.<suffix>
   * and removes those first whose modification times are oldest: set a file's to now when it is
   * used. Files that end in .tmp are removed there when they are old. */
  const char* cache_folder;
  /* [any] since 1, or NULL. Compiled code that outlives the process: the
   * host bounds its bytes, drops what was used least recently, and hands out only what this user's
   * processes stored for this plugin under exactly this key, or what a pack of kernels holds under
   * it. Where cache_folder is NULL, nothing is stored. A key holds all that the code depends
   * on: the kernel, the device, the driver's version.
   * cache_find returns 1 after it called found once, else 0. cache_store copies; that nothing can
   * be stored is no error. */
  uint32_t (*cache_find)(const struct primset_host* host, const void* key, uint64_t key_bytes,
                         primset_cache_found found, void* context);
  void (*cache_store)(const struct primset_host* host, const void* key, uint64_t key_bytes,
                      const void* data, uint64_t bytes);
} primset_host;

/* ---------------------------------------------------------------------------------------------- */
/* The plugin's side                                                                              */
/* ---------------------------------------------------------------------------------------------- */

/* All members are required. */
typedef struct primset_plugin {
  uint32_t struct_size;
  uint32_t abi_version; /* the version negotiated, host min <= abi_version <= host max */
  const char* name;     /* the device prefix users type: "acme" in "acme:0"; [a-z][a-z0-9_]* */
  const char* version;  /* the plugin's own, for people */
  const char* vendor;   /* for people */

  /* [any] since 1. Ends the plugin: all its devices are closed by now. */
  void (*release)(const struct primset_plugin* self);

  /* --- devices ------------------------------------------------------------------------------- */

  /* [any] since 1. Number of devices present, at most 1,024; 0 is a good answer on a machine
   * without any. */
  primset_status* (*device_count)(const struct primset_plugin* self, uint32_t* out_count);
  /* [any] since 1. Opens device `index`. Opening twice gives two independent handles. */
  primset_status* (*device_open)(const struct primset_plugin* self, uint32_t index,
                                 primset_device* out_device);
  /* [device] since 1. All streams, events, buffers and modules of it are gone by now. */
  void (*device_close)(primset_device device);
  /* [any] since 1. Fills *out; out->struct_size is set by the host. Never changes while open. */
  primset_status* (*device_properties)(primset_device device, primset_device_properties* out);
  /* [any] since 1. An optional table by name (PRIMSET_EXT_*), or NULL. Lives as long as the device.
   */
  const void* (*device_extension)(primset_device device, const char* name);

  /* --- memory -------------------------------------------------------------------------------- */

  /* [any] since 1. bytes > 0. Contents are undefined. The SDK caches and suballocates: calls are
   * rare and large. Out of memory is PRIMSET_OUT_OF_MEMORY; the SDK then frees its cache and
   * tries once more. */
  primset_status* (*memory_alloc)(primset_device device, uint64_t bytes,
                                  primset_buffer* out_buffer);
  /* [any] since 1. No work that uses the buffer is pending. */
  void (*memory_free)(primset_device device, primset_buffer buffer);
  /* [stream] since 1. Host to device. `source` may be reused when the call returns. */
  primset_status* (*copy_in)(primset_stream stream, primset_buffer buffer, uint64_t offset,
                             const void* source, uint64_t bytes);
  /* [stream] since 1. Device to host. Waits for the stream: the bytes are there on return. */
  primset_status* (*copy_out)(primset_stream stream, primset_buffer buffer, uint64_t offset,
                              void* target, uint64_t bytes);
  /* [stream] since 1. Device to device, in stream order. The ranges do not overlap. */
  primset_status* (*copy)(primset_stream stream, primset_buffer target, uint64_t target_offset,
                          primset_buffer source, uint64_t source_offset, uint64_t bytes);
  /* [stream] since 1. Repeats a pattern of 1, 2, 4, 8 or 16 bytes; offset and bytes are multiples
   * of pattern_bytes. */
  primset_status* (*fill)(primset_stream stream, primset_buffer buffer, uint64_t offset,
                          uint64_t bytes, const void* pattern, uint32_t pattern_bytes);

  /* --- streams and events -------------------------------------------------------------------- */

  /* [any] since 1. A queue of work that completes in order. */
  primset_status* (*stream_create)(primset_device device, primset_stream* out_stream);
  /* [stream] since 1. Waits for the work given to it, then frees the stream. */
  void (*stream_destroy)(primset_stream stream);
  /* [stream] since 1. Returns when all work given to the stream is complete; reports its errors. */
  primset_status* (*stream_synchronize)(primset_stream stream);
  /* [any] since 1. An event marks a point in a stream; a fresh one counts as reached. */
  primset_status* (*event_create)(primset_device device, primset_event* out_event);
  /* [any] since 1. No stream waits for it any more. */
  void (*event_destroy)(primset_event event);
  /* [stream] since 1. Marks the stream's present end; an earlier mark is forgotten. */
  primset_status* (*event_record)(primset_event event, primset_stream stream);
  /* [any] since 1. *out_reached: 1 if the mark is reached. Never waits. */
  primset_status* (*event_query)(primset_event event, uint32_t* out_reached);
  /* [any] since 1. Waits for the mark. */
  primset_status* (*event_synchronize)(primset_event event);
  /* [stream] since 1. Later work on the stream starts after the mark, which may be of another
   * stream of the same device. */
  primset_status* (*stream_wait_event)(primset_stream stream, primset_event event);

  /* --- kernels ------------------------------------------------------------------------------- */

  /* [any] since 1. A module holds one kernel. A device of PRIMSET_FORMAT_NONE answers
   * PRIMSET_UNSUPPORTED. */
  primset_status* (*module_load)(primset_device device, const primset_module_desc* desc,
                                 primset_module* out_module);
  /* [any] since 1. No launch of its kernel is pending. */
  void (*module_unload)(primset_device device, primset_module module);
  /* [any] since 1. The module's kernel; lives as long as the module. */
  primset_status* (*module_kernel)(primset_module module, primset_kernel* out_kernel);
  /* [stream] since 1. Enqueues one launch. */
  primset_status* (*launch)(primset_stream stream, const primset_launch* launch);
} primset_plugin;

/* The one symbol. [any] since 1. `host` lives until release(). The plugin picks the newest version
 * it knows in [min_version, max_version], or answers PRIMSET_UNSUPPORTED with both ranges in the
 * message. The table stays valid until release(). */
typedef primset_status* (*primset_plugin_query_fn)(const primset_host* host, uint32_t min_version,
                                                   uint32_t max_version,
                                                   const primset_plugin** out_plugin);
#define PRIMSET_PLUGIN_QUERY_SYMBOL "primset_plugin_query"
PRIMSET_PLUGIN_EXPORT primset_status* primset_plugin_query(const primset_host* host,
                                                           uint32_t min_version,
                                                           uint32_t max_version,
                                                           const primset_plugin** out_plugin);

/* ---------------------------------------------------------------------------------------------- */
/* Optional tables                                                                                */
/* ---------------------------------------------------------------------------------------------- */

/* Memory that the host's CPU can address directly. */
#define PRIMSET_EXT_HOST_MEMORY "primset.host_memory/1"
typedef struct primset_host_memory {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] since 1. The CPU address of the buffer's first byte, or NULL if it has none. */
  void* (*address)(primset_device device, primset_buffer buffer);
  /* [any] since 1. Makes a buffer of memory the user owns; memory_free only forgets it. A plugin
   * that cannot answers PRIMSET_UNSUPPORTED. */
  primset_status* (*import)(primset_device device, void* address, uint64_t bytes,
                            primset_buffer* out_buffer);
} primset_host_memory;

/* Host memory that the device copies from and to by itself ("pinned", page-locked). Copies between
 * it and buffers wait for nothing, and run at the full rate of the link. The SDK keeps and reuses
 * the memory: allocations are rare. */
#define PRIMSET_EXT_PINNED_MEMORY "primset.pinned_memory/1"
typedef struct primset_pinned_memory {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] since 1. bytes > 0; *out_memory is a multiple of 64. Contents are undefined. */
  primset_status* (*alloc)(primset_device device, uint64_t bytes, void** out_memory);
  /* [any] since 1. No copy from or to it is pending. */
  void (*free)(primset_device device, void* memory);
  /* [stream] since 1. Host to device, in stream order: `source`, within memory of alloc, keeps its
   * bytes until the stream has passed the copy. */
  primset_status* (*copy_in)(primset_stream stream, primset_buffer buffer, uint64_t offset,
                             const void* source, uint64_t bytes);
  /* [stream] since 1. Device to host, in stream order: the bytes are in `target`, within memory of
   * alloc, when the stream has passed the copy. */
  primset_status* (*copy_out)(primset_stream stream, primset_buffer buffer, uint64_t offset,
                              void* target, uint64_t bytes);
} primset_pinned_memory;

/* Copies between two open devices of one plugin that do not go through the host (NVLink, PCIe). */
#define PRIMSET_EXT_PEER_COPY "primset.peer_copy/1"
typedef struct primset_peer_copies {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] since 1. *out_reachable: 1 if each of the two copies from the other's buffers. Never
   * changes while both are open. Of devices that are not reachable nothing below is asked. */
  primset_status* (*reachable)(primset_device device, primset_device peer, uint32_t* out_reachable);
  /* [stream] since 1. As stream_wait_event, for an event of a peer. */
  primset_status* (*wait_event)(primset_stream stream, primset_event peer_event);
  /* [stream] since 1. As copy: `target` is of the stream's device, `peer_source` of the peer, whose
   * work that writes it was waited for. */
  primset_status* (*copy)(primset_stream stream, primset_buffer target, uint64_t target_offset,
                          primset_buffer peer_source, uint64_t source_offset, uint64_t bytes);
} primset_peer_copies;

/* Addresses of buffers as kernels see them, for tables of pointers in device memory. A launch that
 * follows such pointers lists the memory behind them as further bindings. */
#define PRIMSET_EXT_DEVICE_ADDRESS "primset.device_address/1"
typedef struct primset_device_addresses {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] since 1. The address of the buffer's first byte; never 0; fixed while the buffer lives.
   */
  uint64_t (*address)(primset_device device, primset_buffer buffer);
} primset_device_addresses;

/* Native primitives, which the device computes itself: all that there is on a device without a
 * kernel format; a faster alternative (a vendor library's matrix product) on one with.
 *
 * A device that runs all core primitives of specs/prims runs all operators. Loops, branches and
 * sizes known at run time only are the host's: it reads a count or a condition back and calls the
 * primitives inside as often as that says.
 *
 * What may fail on the device is a primitive of its own, `check`. Beside its operands p and value
 * it has one result, the stream's error slot of two i64, and the attribute `slot_code`: where some
 * element of p is false and the slot's first i64 is 0, the device stores slot_code there and that
 * element of value in the second. The host reads the slot when it next waits for the stream, and
 * raises the error. Before a gather or scatter whose attribute in_bounds is 0 the host checks the
 * indices; the primitive itself reads zeros where an index is out of bounds, and writes nothing. */
#define PRIMSET_EXT_PRIMITIVES "primset.primitives/1"

/* An operand or result. sizes and strides have `rank` members, strides in elements. */
typedef struct primset_tensor {
  uint32_t struct_size;
  uint32_t dtype; /* PRIMSET_* element type */
  primset_buffer buffer;
  uint64_t offset; /* bytes */
  uint32_t rank;
  uint32_t reserved;
  const int64_t* sizes;
  const int64_t* strides;
} primset_tensor;

/* An attribute of a primitive, as its entry in specs/prims names it. One that has its default value
 * may be absent; an absent list is empty. */
enum {
  PRIMSET_ATTR_INT = 1,
  PRIMSET_ATTR_FLOAT = 2,
  PRIMSET_ATTR_INTS = 3,
  PRIMSET_ATTR_STRING = 4
};
typedef struct primset_attr {
  const char* name;
  uint32_t kind;  /* PRIMSET_ATTR_*; bools, dtypes and dims are INT; lists of sizes and dims INTS */
  uint32_t count; /* INTS: length */
  union {
    int64_t i;
    double f;
    const int64_t* ints;
    const char* string;
  } value;
} primset_attr;

typedef struct primset_primitive_call {
  uint32_t struct_size;
  uint32_t operand_count;
  const primset_tensor* operands;
  uint32_t result_count;
  uint32_t attr_count;
  const primset_tensor* results; /* allocated by the host, contiguous */
  const primset_attr* attrs;
  void* next;
} primset_primitive_call;

/* primset_primitive.flags */
enum {
  PRIMSET_PRIMITIVE_STRIDED = 1u << 0, /* takes operands with any strides; else the host makes them
                                         contiguous (row-major, no gaps) first */
  /* It waits for the device, or uses memory that moves: it is never given to a stream that records.
   */
  PRIMSET_PRIMITIVE_UNRECORDED = 1u << 1
};

/* What find answers; stays valid as long as the device is open. */
typedef struct primset_primitive {
  uint32_t struct_size; /* set by the host */
  uint32_t flags;       /* PRIMSET_PRIMITIVE_* */
  /* [stream] since 1. Enqueues the primitive. */
  primset_status* (*run)(primset_stream stream, const void* data,
                         const primset_primitive_call* call);
  const void* data; /* handed back to run */
  /* since 1. On a device that also takes kernels: a smaller call is computed by generated ones. Of
   * dot_general and matmul these are multiplications in each batch (m * n * k: the free sizes of
   * both operands times the contracted sizes), of convolutions and their gradients all that the
   * convolution has without padding, of attention those of queries and keys in all, with a
   * head's queries rounded up to a multiple of 64, of other primitives elements of the first
   * operand. 0: none is. */
  uint64_t least_products;
} primset_primitive;

typedef struct primset_primitives {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] since 1. Says whether the device runs `name` ("dot_general") for these element types and
   * attributes: fills *out and returns NULL, or returns PRIMSET_UNSUPPORTED. The answer may depend
   * on the sizes, strides and offsets of the tensors, which are those of the current call, but not
   * on their buffers. The answer is a claim: run succeeds for every call that find accepts. The
   * host makes one plan for calls of many sizes and asks again before each run. A refusal then
   * makes it use another plan, with kernels; on a device that takes none it is an error. */
  primset_status* (*find)(primset_device device, const char* name,
                          const primset_primitive_call* call, primset_primitive* out);
} primset_primitives;

/* Recordings (CUDA graphs, command buffers): work that is recorded once and then replayed by one
 * call, which costs less than enqueueing it piece by piece. A stream that records executes nothing:
 * launches, copies on the device, fills and primitives become part of the recording, with their
 * current buffers, offsets and scalars. The host records work that it enqueues for the second time.
 */
#define PRIMSET_EXT_RECORDING "primset.recording/1"
typedef struct primset_recording_t* primset_recording;
typedef struct primset_recordings {
  uint32_t struct_size;
  uint32_t reserved;
  /* [stream] since 1. The stream records from now on. Until end() it is given only the work listed
   * above. */
  primset_status* (*begin)(primset_stream stream);
  /* [stream] since 1. Ends recording, also when it fails. With out_recording NULL the recorded work
   * is dropped. */
  primset_status* (*end)(primset_stream stream, primset_recording* out_recording);
  /* [stream] since 1. Enqueues the recorded work after all earlier work of the stream, which may be
   * any stream of the device. The buffers and modules in it still exist. Plays of one recording
   * never overlap, neither as calls nor as work: each waits for the previous one. */
  primset_status* (*play)(primset_stream stream, primset_recording recording);
  /* [any] since 1. Work that was played before still completes. */
  void (*destroy)(primset_device device, primset_recording recording);
} primset_recordings;

#ifdef __cplusplus
}
#endif

#endif /* PRIMSET_PLUGIN_H_ */
