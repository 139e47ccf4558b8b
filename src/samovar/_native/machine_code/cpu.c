/* The processor as LLVM names it: its features by cpuid, if the operating system saves their registers, and its
   microarchitecture. A warm process gets both without loading LLVM. */
#include "native.h"

#include <assert.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* What the operating system must enable for a feature to be usable. */
typedef enum { NOTHING, XSAVE_ENABLED, AVX_STATE, AVX512_STATE, AMX_STATE } requirement;

typedef enum { EAX, EBX, ECX, EDX } cpuid_register;

typedef struct {
    const char *name;
    uint32_t leaf;
    uint32_t subleaf;
    cpuid_register where;
    int bit;
    requirement needs;
} feature;

static const feature features[] = {
    {"cx8", 1, 0, EDX, 8, NOTHING},
    {"cmov", 1, 0, EDX, 15, NOTHING},
    {"mmx", 1, 0, EDX, 23, NOTHING},
    {"fxsr", 1, 0, EDX, 24, NOTHING},
    {"sse", 1, 0, EDX, 25, NOTHING},
    {"sse2", 1, 0, EDX, 26, NOTHING},
    {"sse3", 1, 0, ECX, 0, NOTHING},
    {"pclmul", 1, 0, ECX, 1, NOTHING},
    {"ssse3", 1, 0, ECX, 9, NOTHING},
    {"fma", 1, 0, ECX, 12, AVX_STATE},
    {"cx16", 1, 0, ECX, 13, NOTHING},
    {"sse4.1", 1, 0, ECX, 19, NOTHING},
    {"sse4.2", 1, 0, ECX, 20, NOTHING},
    {"crc32", 1, 0, ECX, 20, NOTHING},
    {"movbe", 1, 0, ECX, 22, NOTHING},
    {"popcnt", 1, 0, ECX, 23, NOTHING},
    {"aes", 1, 0, ECX, 25, NOTHING},
    {"xsave", 1, 0, ECX, 26, XSAVE_ENABLED},
    {"avx", 1, 0, ECX, 28, AVX_STATE},
    {"f16c", 1, 0, ECX, 29, AVX_STATE},
    {"rdrnd", 1, 0, ECX, 30, NOTHING},
    {"fsgsbase", 7, 0, EBX, 0, NOTHING},
    {"bmi", 7, 0, EBX, 3, NOTHING},
    {"avx2", 7, 0, EBX, 5, AVX_STATE},
    {"bmi2", 7, 0, EBX, 8, NOTHING},
    {"invpcid", 7, 0, EBX, 10, NOTHING},
    {"rtm", 7, 0, EBX, 11, NOTHING},
    {"avx512f", 7, 0, EBX, 16, AVX512_STATE},
    {"avx512dq", 7, 0, EBX, 17, AVX512_STATE},
    {"rdseed", 7, 0, EBX, 18, NOTHING},
    {"adx", 7, 0, EBX, 19, NOTHING},
    {"avx512ifma", 7, 0, EBX, 21, AVX512_STATE},
    {"clflushopt", 7, 0, EBX, 23, NOTHING},
    {"clwb", 7, 0, EBX, 24, NOTHING},
    {"avx512cd", 7, 0, EBX, 28, AVX512_STATE},
    {"sha", 7, 0, EBX, 29, NOTHING},
    {"avx512bw", 7, 0, EBX, 30, AVX512_STATE},
    {"avx512vl", 7, 0, EBX, 31, AVX512_STATE},
    {"avx512vbmi", 7, 0, ECX, 1, AVX512_STATE},
    {"pku", 7, 0, ECX, 4, NOTHING},
    {"waitpkg", 7, 0, ECX, 5, NOTHING},
    {"avx512vbmi2", 7, 0, ECX, 6, AVX512_STATE},
    {"shstk", 7, 0, ECX, 7, NOTHING},
    {"gfni", 7, 0, ECX, 8, NOTHING},
    {"vaes", 7, 0, ECX, 9, AVX_STATE},
    {"vpclmulqdq", 7, 0, ECX, 10, AVX_STATE},
    {"avx512vnni", 7, 0, ECX, 11, AVX512_STATE},
    {"avx512bitalg", 7, 0, ECX, 12, AVX512_STATE},
    {"avx512vpopcntdq", 7, 0, ECX, 14, AVX512_STATE},
    {"rdpid", 7, 0, ECX, 22, NOTHING},
    {"cldemote", 7, 0, ECX, 25, NOTHING},
    {"movdiri", 7, 0, ECX, 27, NOTHING},
    {"movdir64b", 7, 0, ECX, 28, NOTHING},
    {"avx512vp2intersect", 7, 0, EDX, 8, AVX512_STATE},
    {"serialize", 7, 0, EDX, 14, NOTHING},
    {"tsxldtrk", 7, 0, EDX, 16, NOTHING},
    {"amx-bf16", 7, 0, EDX, 22, AMX_STATE},
    {"avx512fp16", 7, 0, EDX, 23, AVX512_STATE},
    {"amx-tile", 7, 0, EDX, 24, AMX_STATE},
    {"amx-int8", 7, 0, EDX, 25, AMX_STATE},
    {"sha512", 7, 1, EAX, 0, AVX_STATE},
    {"sm3", 7, 1, EAX, 1, AVX_STATE},
    {"sm4", 7, 1, EAX, 2, AVX_STATE},
    {"avxvnni", 7, 1, EAX, 4, AVX_STATE},
    {"avx512bf16", 7, 1, EAX, 5, AVX512_STATE},
    {"cmpccxadd", 7, 1, EAX, 7, NOTHING},
    {"amx-fp16", 7, 1, EAX, 21, AMX_STATE},
    {"avxifma", 7, 1, EAX, 23, AVX_STATE},
    {"avxvnniint8", 7, 1, EDX, 4, AVX_STATE},
    {"avxneconvert", 7, 1, EDX, 5, AVX_STATE},
    {"amx-complex", 7, 1, EDX, 8, AMX_STATE},
    {"avxvnniint16", 7, 1, EDX, 10, AVX_STATE},
    {"prefetchi", 7, 1, EDX, 14, NOTHING},
    {"xsaveopt", 13, 1, EAX, 0, XSAVE_ENABLED},
    {"xsavec", 13, 1, EAX, 1, XSAVE_ENABLED},
    {"xsaves", 13, 1, EAX, 3, XSAVE_ENABLED},
    {"sahf", 0x80000001, 0, ECX, 0, NOTHING},
    {"lzcnt", 0x80000001, 0, ECX, 5, NOTHING},
    {"sse4a", 0x80000001, 0, ECX, 6, NOTHING},
    {"prfchw", 0x80000001, 0, ECX, 8, NOTHING},
    {"xop", 0x80000001, 0, ECX, 11, AVX_STATE},
    {"lwp", 0x80000001, 0, ECX, 15, AVX_STATE},
    {"fma4", 0x80000001, 0, ECX, 16, AVX_STATE},
    {"tbm", 0x80000001, 0, ECX, 21, NOTHING},
    {"mwaitx", 0x80000001, 0, ECX, 29, NOTHING},
    {"64bit", 0x80000001, 0, EDX, 29, NOTHING},
    {"clzero", 0x80000008, 0, EBX, 0, NOTHING},
    {"rdpru", 0x80000008, 0, EBX, 4, NOTHING},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, NOTHING},
};

/* The result of a cpuid leaf, cached: under a hypervisor each cpuid costs as much as a thousand instructions. */
static const uint32_t *cpuid_leaf(uint32_t leaf, uint32_t subleaf)
{
    static struct {
        uint32_t leaf, subleaf, registers[4];
    } known[16];
    static int count;
    for (int i = 0; i < count; i++)
        if (known[i].leaf == leaf && known[i].subleaf == subleaf)
            return known[i].registers;
    assert(count < (int)(sizeof known / sizeof *known)); /* the table above uses five */
    uint32_t *registers = known[count].registers;
    if (!__get_cpuid_count(leaf, subleaf, &registers[EAX], &registers[EBX], &registers[ECX], &registers[EDX]))
        memset(registers, 0, sizeof known->registers);
    known[count].leaf = leaf;
    known[count++].subleaf = subleaf;
    return registers;
}

static bool cpuid_bit(uint32_t leaf, uint32_t subleaf, cpuid_register where, int bit)
{
    /* Leaf 7 reports its number of subleaves. */
    if (leaf == 7 && subleaf > 0 && subleaf > cpuid_leaf(7, 0)[EAX])
        return false;
    return cpuid_leaf(leaf, subleaf)[where] >> bit & 1;
}

/* The register state that the operating system saves: XCR0, or 0 without XSAVE. */
static uint64_t saved_state(void)
{
    if (!cpuid_bit(1, 0, ECX, 27))
        return 0;
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool is_met(requirement needs, uint64_t saved)
{
    static const uint64_t states[] = {
        [NOTHING] = 0, [XSAVE_ENABLED] = 0x1, [AVX_STATE] = 0x6, [AVX512_STATE] = 0xe6, [AMX_STATE] = 0x60000,
    };
    return (saved & states[needs]) == states[needs];
}

static bool has(const char *name)
{
    uint64_t saved = saved_state();
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strcmp(features[i].name, name) == 0)
            return cpuid_bit(features[i].leaf, features[i].subleaf, features[i].where, features[i].bit) &&
                   is_met(features[i].needs, saved);
    return false;
}

static PyObject *cpu_features(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *dict = PyDict_New();
    uint64_t saved = saved_state();
    for (size_t i = 0; dict != NULL && i < sizeof features / sizeof *features; i++) {
        const feature *one = &features[i];
        bool usable = cpuid_bit(one->leaf, one->subleaf, one->where, one->bit) && is_met(one->needs, saved);
        if (PyDict_SetItemString(dict, one->name, usable ? Py_True : Py_False) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

/* Microarchitectures by family and range of models; the first matching row counts. */
typedef struct {
    uint16_t family;
    uint8_t first;
    uint8_t last;
    const char *name;
} design;

static const design amd_designs[] = {
    {0x17, 0x00, 0x2f, "znver1"}, {0x17, 0x30, 0xff, "znver2"}, {0x19, 0x10, 0x1f, "znver4"}, {0x19, 0x60, 0xaf, "znver4"},
    {0x19, 0x00, 0xff, "znver3"}, {0x1a, 0x00, 0xff, "znver5"},
};

static const design intel_designs[] = {
    {6, 0x1a, 0x1a, "nehalem"}, {6, 0x1e, 0x1f, "nehalem"}, {6, 0x2e, 0x2e, "nehalem"}, {6, 0x25, 0x25, "westmere"},
    {6, 0x2c, 0x2c, "westmere"}, {6, 0x2f, 0x2f, "westmere"}, {6, 0x2a, 0x2a, "sandybridge"}, {6, 0x2d, 0x2d, "sandybridge"},
    {6, 0x3a, 0x3a, "ivybridge"}, {6, 0x3e, 0x3e, "ivybridge"}, {6, 0x3c, 0x3c, "haswell"}, {6, 0x3f, 0x3f, "haswell"},
    {6, 0x45, 0x46, "haswell"}, {6, 0x3d, 0x3d, "broadwell"}, {6, 0x47, 0x47, "broadwell"}, {6, 0x4f, 0x4f, "broadwell"},
    {6, 0x56, 0x56, "broadwell"}, {6, 0x4e, 0x4e, "skylake"}, {6, 0x5e, 0x5e, "skylake"}, {6, 0x8e, 0x8e, "skylake"},
    {6, 0x9e, 0x9e, "skylake"}, {6, 0xa5, 0xa6, "skylake"}, {6, 0x55, 0x55, "skylake-avx512"}, {6, 0x66, 0x66, "cannonlake"},
    {6, 0x6a, 0x6a, "icelake-server"}, {6, 0x6c, 0x6c, "icelake-server"}, {6, 0x7d, 0x7e, "icelake-client"},
    {6, 0x8c, 0x8d, "tigerlake"}, {6, 0xa7, 0xa7, "rocketlake"}, {6, 0x97, 0x97, "alderlake"}, {6, 0x9a, 0x9a, "alderlake"},
    {6, 0xb7, 0xb7, "raptorlake"}, {6, 0xba, 0xba, "raptorlake"}, {6, 0xbf, 0xbf, "raptorlake"}, {6, 0xaa, 0xaa, "meteorlake"},
    {6, 0xac, 0xac, "meteorlake"}, {6, 0xc5, 0xc5, "arrowlake"}, {6, 0xc6, 0xc6, "arrowlake-s"}, {6, 0xbd, 0xbd, "lunarlake"},
    {6, 0x8f, 0x8f, "sapphirerapids"}, {6, 0xcf, 0xcf, "emeraldrapids"}, {6, 0xad, 0xae, "graniterapids"},
    {6, 0xaf, 0xaf, "sierraforest"},
};

static const char *look_up(const design *designs, size_t count, uint32_t family, uint32_t model)
{
    for (size_t i = 0; i < count; i++)
        if (designs[i].family == family && designs[i].first <= model && model <= designs[i].last)
            return designs[i].name;
    return NULL;
}

static const char *design_name(void)
{
    uint32_t most, vendor[3], signature, ebx, ecx, edx;
    if (!__get_cpuid(0, &most, &vendor[0], &vendor[2], &vendor[1]) || !__get_cpuid(1, &signature, &ebx, &ecx, &edx))
        return NULL;
    uint32_t family = signature >> 8 & 0xf, model = signature >> 4 & 0xf;
    if (family == 6 || family == 15)
        model |= signature >> 12 & 0xf0;
    if (family == 15)
        family += signature >> 20 & 0xff;
    if (memcmp(vendor, "AuthenticAMD", 12) == 0)
        return look_up(amd_designs, sizeof amd_designs / sizeof *amd_designs, family, model);
    if (memcmp(vendor, "GenuineIntel", 12) != 0)
        return NULL;
    if (family == 6 && model == 0x55) /* three generations share this number */
        return has("avx512bf16") ? "cooperlake" : has("avx512vnni") ? "cascadelake" : "skylake-avx512";
    return look_up(intel_designs, sizeof intel_designs / sizeof *intel_designs, family, model);
}

/* An unknown microarchitecture gets the name of its architecture level. */
static const char *level_name(void)
{
    if (has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") && has("avx512vl"))
        return "x86-64-v4";
    if (has("avx2") && has("bmi") && has("bmi2") && has("f16c") && has("fma") && has("lzcnt") && has("movbe"))
        return "x86-64-v3";
    return has("sse4.2") && has("popcnt") && has("cx16") ? "x86-64-v2" : "x86-64";
}

static PyObject *cpu_name(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    const char *name = design_name();
    return PyUnicode_FromString(name != NULL ? name : level_name());
}

#else

static PyObject *cpu_features(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyDict_New();
}

static PyObject *cpu_name(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyUnicode_FromString("generic");
}

#endif

static PyMethodDef cpu_functions[] = {
    {"cpu_name", cpu_name, METH_NOARGS,
     PyDoc_STR("cpu_name()\n--\n\nLLVM's name of the processor's microarchitecture, or the architecture level of an unknown one.")},
    {"cpu_features", cpu_features, METH_NOARGS,
     PyDoc_STR("cpu_features()\n--\n\nThe usable features of the processor, by their LLVM names.")},
    {NULL, NULL, 0, NULL},
};

int sv_cpu_init(PyObject *module)
{
    return PyModule_AddFunctions(module, cpu_functions);
}
