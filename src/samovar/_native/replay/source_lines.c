/* Digests of the current source lines of functions: a fast version of `lens/lines.py` and `lens/text.py`, which are the
   reference, for plain files. Everything but a UTF-8 file with ordinary line endings (a notebook cell, another encoding,
   lines in `linecache`) is left to them. */
#include "fingerprint/fingerprint.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long after a change (nanoseconds) the times of a file may stay the same at the next one, see `lens/lines.py`. */
static const int64_t tick = 2000000000;
/* An encoding may be declared in the first two lines, of which this many bytes are searched. */
enum { DECLARATION_LINES = 2, DECLARATION_BYTES = 400 };

typedef struct {
    int64_t modified, changed, size;
    uint64_t inode, device;
} file_version;

typedef struct {
    char *name; /* encoded for the operating system */
    uint64_t moment;
    file_version version;
    bool is_old_enough; /* whether it was old enough when it was read */
    bool is_plain;
    char *content; /* with a newline at its end */
    size_t size;
    Py_ssize_t line_count;
    size_t *starts;    /* offsets of lines, and the end of the last one */
    PyObject *digests; /* first line and number of lines, packed in one integer → digest */
} source_file;

/* Few modules have kernels. */
static source_file **files;
static size_t file_count;

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool find_version(const char *name, file_version *version)
{
    struct stat status;
    if (stat(name, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    *version = (file_version){nanoseconds(status.st_mtim), nanoseconds(status.st_ctim), status.st_size, status.st_ino, status.st_dev};
    return true;
}

static bool is_version(const file_version *one, const file_version *other)
{
    return one->modified == other->modified && one->changed == other->changed && one->size == other->size &&
           one->inode == other->inode && one->device == other->device;
}

/* The content of a file, with a newline appended if the last line has none, allocated by `malloc`; NULL if it cannot be
   read. */
static char *read_whole(const char *name, size_t expected, size_t *size)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    size_t space = expected + 2, used = 0;
    char *content = file < 0 ? NULL : malloc(space);
    while (content != NULL) {
        ssize_t count = read(file, content + used, space - used - 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            if (count < 0) {
                free(content);
                content = NULL;
            }
            break;
        }
        used += (size_t)count;
        if (used + 1 == space) {
            char *larger = realloc(content, space *= 2);
            if (larger == NULL)
                free(content);
            content = larger;
        }
    }
    if (file >= 0)
        close(file);
    if (content != NULL && used > 0 && content[used - 1] != '\n')
        content[used++] = '\n';
    *size = used;
    return content;
}

static bool declares_encoding(const char *content, size_t size)
{
    if (size >= 3 && memcmp(content, "\xef\xbb\xbf", 3) == 0)
        return true;
    size_t end = size < DECLARATION_BYTES ? size : DECLARATION_BYTES, at = 0;
    for (int line = 0; line < DECLARATION_LINES && at < end; line++) {
        const char *newline = memchr(content + at, '\n', end - at);
        size_t next = newline == NULL ? end : (size_t)(newline - content);
        if (memmem(content + at, next - at, "coding", 6) != NULL)
            return true;
        at = next + 1;
    }
    return false;
}

static bool is_text(const char *content, size_t size)
{
    size_t at = 0;
    while (at < size && (unsigned char)content[at] < 0x80)
        at++;
    if (at == size)
        return true;
    PyObject *text = PyUnicode_DecodeUTF8(content, (Py_ssize_t)size, NULL);
    PyErr_Clear();
    Py_XDECREF(text);
    return text != NULL;
}

/* Find the beginnings of lines; false without memory. */
static bool find_lines(source_file *file)
{
    size_t count = 0;
    for (const char *at = file->content, *end = at + file->size; at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        count++;
    size_t *starts = malloc((count + 1) * sizeof *starts);
    if (starts == NULL)
        return false;
    starts[0] = 0;
    for (size_t line = 0; line < count; line++)
        starts[line + 1] = (size_t)((char *)memchr(file->content + starts[line], '\n', file->size - starts[line]) - file->content) + 1;
    free(file->starts);
    file->starts = starts;
    file->line_count = (Py_ssize_t)count;
    return true;
}

/* Read a file that may have changed. False if it cannot be read, or without memory. */
static bool read_again(source_file *file, const file_version *version)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t last = version->modified > version->changed ? version->modified : version->changed;
    bool is_old_enough = nanoseconds(now) - last > tick;
    size_t size;
    char *content = read_whole(file->name, (size_t)version->size, &size);
    if (content == NULL)
        return false;
    if (file->content != NULL && size == file->size && memcmp(content, file->content, size) == 0) {
        free(content);
    } else {
        free(file->content);
        file->content = content;
        file->size = size;
        PyDict_Clear(file->digests);
        file->is_plain = memchr(content, '\r', size) == NULL && !declares_encoding(content, size) && is_text(content, size) && find_lines(file);
    }
    file->version = *version;
    file->is_old_enough = is_old_enough;
    return true;
}

static source_file *known_file(const char *name)
{
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i]->name, name) == 0)
            return files[i];
    source_file **more = realloc(files, (file_count + 1) * sizeof *files);
    if (more == NULL)
        return NULL;
    files = more;
    source_file *file = calloc(1, sizeof *file);
    char *copied = file == NULL ? NULL : strdup(name);
    PyObject *digests = copied == NULL ? NULL : PyDict_New();
    if (digests == NULL) {
        free(copied);
        free(file);
        PyErr_Clear();
        return NULL;
    }
    file->name = copied;
    file->digests = digests;
    files[file_count++] = file;
    return file;
}

/* Whether `linecache` has lines of its own, as with notebooks. Also true if that cannot be determined. */
static bool is_registered(PyObject *name)
{
    PyObject *library = PyDict_GetItemString(PyImport_GetModuleDict(), "linecache");
    if (library == NULL)
        return false;
    Py_INCREF(library);
    PyObject *cache = PyObject_GetAttrString(library, "cache"); /* Python may run here. */
    Py_DECREF(library);
    PyObject *entry = cache != NULL && PyDict_CheckExact(cache) ? PyDict_GetItemWithError(cache, name) : NULL;
    bool found = cache == NULL || !PyDict_CheckExact(cache) || PyErr_Occurred();
    if (entry != NULL)
        found = !PyTuple_CheckExact(entry) || (PyTuple_GET_SIZE(entry) > 1 && PyTuple_GET_ITEM(entry, 1) == Py_None);
    Py_XDECREF(cache);
    PyErr_Clear();
    return found;
}

/* The current state of the file, NULL if it is left to Python. Checked once per replay. */
static source_file *present_file(PyObject *name, uint64_t moment)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL || text[0] == '<' || !PyUnicode_IS_ASCII(name) || strlen(text) != (size_t)PyUnicode_GET_LENGTH(name)) {
        PyErr_Clear();
        return NULL;
    }
    source_file *file = known_file(text);
    if (file == NULL || (file->moment == moment && file->is_plain))
        return file;
    file_version version;
    if (is_registered(name) || !find_version(text, &version))
        return NULL;
    bool is_known = file->content != NULL && file->is_old_enough && is_version(&file->version, &version);
    if ((!is_known && !read_again(file, &version)) || !file->is_plain)
        return NULL;
    file->moment = moment;
    return file;
}

PyObject *sv_lines_digest(PyObject *code, Py_ssize_t count, uint64_t moment)
{
    Py_ssize_t first = ((PyCodeObject *)code)->co_firstlineno - 1;
    source_file *file = present_file(((PyCodeObject *)code)->co_filename, moment);
    if (file == NULL || first < 0 || count < 1 || count > file->line_count || first > file->line_count - count)
        return NULL;
    PyObject *place = PyLong_FromUnsignedLongLong((uint64_t)first << 32 | (uint64_t)count);
    PyObject *digest = place == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(file->digests, place));
    if (place != NULL && digest == NULL) {
        size_t begin = file->starts[first], end = file->starts[first + count];
        PyObject *text = PyUnicode_DecodeUTF8(file->content + begin, (Py_ssize_t)(end - begin), NULL);
        digest = text == NULL ? NULL : sv_plain_digest(text);
        if (digest != NULL && PyDict_SetItem(file->digests, place, digest) < 0)
            Py_CLEAR(digest);
        Py_XDECREF(text);
    }
    Py_XDECREF(place);
    PyErr_Clear();
    return digest;
}
