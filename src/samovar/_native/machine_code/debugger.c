/* Symbols for debuggers and profilers: with SAMOVAR_PERF_MAP=1 the functions of an image are appended to /tmp/perf-PID.map,
   with SAMOVAR_GDB=1 they are registered through gdb's JIT interface as a small ELF file that contains only symbols. */
#include "launch/runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* gdb's interface: gdb sets a breakpoint on the function and reads the descriptor when it is hit. */
enum { JIT_NO_ACTION, JIT_REGISTER, JIT_UNREGISTER };

struct jit_code_entry {
    struct jit_code_entry *next_entry;
    struct jit_code_entry *prev_entry;
    const char *symfile_addr;
    uint64_t symfile_size;
};

struct jit_descriptor {
    uint32_t version;
    uint32_t action_flag;
    struct jit_code_entry *relevant_entry;
    struct jit_code_entry *first_entry;
};

__attribute__((visibility("default"))) extern struct jit_descriptor __jit_debug_descriptor;
struct jit_descriptor __jit_debug_descriptor = {1, JIT_NO_ACTION, NULL, NULL};

__attribute__((visibility("default"), noinline)) extern void __jit_debug_register_code(void);
void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

static void announce(struct jit_code_entry *entry, uint32_t action)
{
    __jit_debug_descriptor.relevant_entry = entry;
    __jit_debug_descriptor.action_flag = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action_flag = JIT_NO_ACTION;
    __jit_debug_descriptor.relevant_entry = NULL;
}

static bool asked_for(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && *value != '\0' && strcmp(value, "0") != 0;
}

static int write_perf_map(sv_image *image)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
        return -1;
    }
    int result = 0;
    for (size_t i = 0; result == 0 && i < image->function_count; i++) {
        size_t offset, size;
        const char *name = sv_image_function(image, i, &offset, &size);
        if (dprintf(descriptor, "%zx %zx %s\n", (size_t)image->code + offset, size, name) < 0) {
            PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
            result = -1;
        }
    }
    close(descriptor);
    return result;
}

#if defined(__x86_64__)
#define ELF_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_MACHINE EM_AARCH64
#endif

enum { SECTION_NULL, SECTION_TEXT, SECTION_SYMBOLS, SECTION_STRINGS, SECTION_COUNT };

/* Section names and symbol names share one string table that starts with these. */
static const char section_names[] = "\0.text\0.symtab\0.strtab";

static char *symbol_file(sv_image *image, size_t *file_size)
{
    size_t functions = image->function_count;
    size_t names = sizeof section_names;
    for (size_t i = 0; i < functions; i++) {
        size_t offset, size;
        names += strlen(sv_image_function(image, i, &offset, &size)) + 1;
    }
    size_t sections_at = sizeof(Elf64_Ehdr);
    size_t symbols_at = sections_at + SECTION_COUNT * sizeof(Elf64_Shdr);
    size_t strings_at = symbols_at + (functions + 1) * sizeof(Elf64_Sym);
    char *file = calloc(1, strings_at + names);
    if (file == NULL)
        return NULL;
    Elf64_Ehdr *header = (Elf64_Ehdr *)file;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_EXEC;
    header->e_machine = ELF_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_shoff = sections_at;
    header->e_ehsize = sizeof(Elf64_Ehdr);
    header->e_shentsize = sizeof(Elf64_Shdr);
    header->e_shnum = SECTION_COUNT;
    header->e_shstrndx = SECTION_STRINGS;
    Elf64_Shdr *sections = (Elf64_Shdr *)(file + sections_at);
    sections[SECTION_TEXT] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                          .sh_addr = (Elf64_Addr)image->code, .sh_size = image->size, .sh_addralign = 64};
    sections[SECTION_SYMBOLS] = (Elf64_Shdr){.sh_name = 7, .sh_type = SHT_SYMTAB, .sh_offset = symbols_at,
                                             .sh_size = (functions + 1) * sizeof(Elf64_Sym), .sh_link = SECTION_STRINGS,
                                             .sh_info = 1, .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym)};
    sections[SECTION_STRINGS] = (Elf64_Shdr){.sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = strings_at,
                                             .sh_size = names, .sh_addralign = 1};
    char *strings = file + strings_at;
    memcpy(strings, section_names, sizeof section_names);
    size_t used = sizeof section_names;
    Elf64_Sym *symbols = (Elf64_Sym *)(file + symbols_at);
    for (size_t i = 0; i < functions; i++) {
        size_t offset, size;
        const char *name = sv_image_function(image, i, &offset, &size);
        symbols[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)used, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = SECTION_TEXT, .st_value = (Elf64_Addr)image->code + offset,
                                     .st_size = size};
        size_t length = strlen(name) + 1;
        memcpy(strings + used, name, length);
        used += length;
    }
    *file_size = strings_at + names;
    return file;
}

static int register_with_gdb(sv_image *image)
{
    struct jit_code_entry *entry = calloc(1, sizeof *entry);
    size_t size = 0;
    char *file = entry == NULL ? NULL : symbol_file(image, &size);
    if (file == NULL) {
        free(entry);
        PyErr_NoMemory();
        return -1;
    }
    entry->symfile_addr = file;
    entry->symfile_size = size;
    entry->next_entry = __jit_debug_descriptor.first_entry;
    if (entry->next_entry != NULL)
        entry->next_entry->prev_entry = entry;
    __jit_debug_descriptor.first_entry = entry;
    announce(entry, JIT_REGISTER);
    image->debug_entry = entry;
    return 0;
}

int sv_debugger_register(sv_image *image)
{
    if (asked_for("SAMOVAR_PERF_MAP") && write_perf_map(image) < 0)
        return -1;
    if (asked_for("SAMOVAR_GDB") && register_with_gdb(image) < 0)
        return -1;
    return 0;
}

void sv_debugger_unregister(sv_image *image)
{
    struct jit_code_entry *entry = image->debug_entry;
    if (entry == NULL)
        return;
    if (entry->prev_entry != NULL)
        entry->prev_entry->next_entry = entry->next_entry;
    else
        __jit_debug_descriptor.first_entry = entry->next_entry;
    if (entry->next_entry != NULL)
        entry->next_entry->prev_entry = entry->prev_entry;
    announce(entry, JIT_UNREGISTER);
    free((char *)entry->symfile_addr);
    free(entry);
    image->debug_entry = NULL;
}
