/* The binary interface of DLPack 1.3 that CPU arrays need: tensors, capsules, the C exchange API. */
#ifndef SAMOVAR_DLPACK_H
#define SAMOVAR_DLPACK_H

#include <stdint.h>

enum { SV_DLPACK_MAJOR = 1, SV_DLPACK_MINOR = 3 };

/* Device types whose memory the CPU can access directly: plain, and pinned for CUDA or ROCm. */
enum { SV_DL_CPU = 1, SV_DL_CUDA_HOST = 3, SV_DL_ROCM_HOST = 11 };

enum { SV_DL_INT = 0, SV_DL_UINT = 1, SV_DL_FLOAT = 2, SV_DL_BFLOAT = 4, SV_DL_COMPLEX = 5, SV_DL_BOOL = 6 };

enum { SV_DL_FLAG_READONLY = 1, SV_DL_FLAG_COPIED = 2 };

typedef struct {
    int32_t device_type;
    int32_t device_id;
} sv_dl_device;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} sv_dl_datatype;

typedef struct {
    void *data;
    sv_dl_device device;
    int32_t ndim;
    sv_dl_datatype dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL means C order, before version 1.2 */
    uint64_t byte_offset;
} sv_dl_tensor;

/* What a "dltensor" capsule points at. */
typedef struct sv_dl_managed {
    sv_dl_tensor tensor;
    void *context;
    void (*deleter)(struct sv_dl_managed *);
} sv_dl_managed;

typedef struct {
    uint32_t major;
    uint32_t minor;
} sv_dl_version;

/* What a "dltensor_versioned" capsule points at. Up to `flags` the layout is the same in every major version. */
typedef struct sv_dl_versioned {
    sv_dl_version version;
    void *context;
    void (*deleter)(struct sv_dl_versioned *);
    uint64_t flags;
    sv_dl_tensor tensor;
} sv_dl_versioned;

/* What the capsule "dlpack_exchange_api" of a tensor type's `__dlpack_c_exchange_api__` points at; never freed. */
typedef struct sv_dl_exchange {
    sv_dl_version version;
    struct sv_dl_exchange *previous;
    void *allocator;
    void *managed_from_object;
    void *managed_to_object;
    int (*tensor_from_object)(void *object, sv_dl_tensor *tensor); /* borrowed; may be NULL */
    void *current_stream;
} sv_dl_exchange;

#endif
