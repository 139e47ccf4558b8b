/* Cache entry files: read one as a whole with its owner and checksum (a warm start reads about a hundred), and write one. */
#include "cache/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The size limit of an entry. A larger file is damaged (a crash can leave any size) and not worth the memory. */
static const off_t LARGEST = (off_t)256 << 20;

static int read_all(int descriptor, uint8_t *to, size_t size, size_t *got)
{
    for (*got = 0; *got < size;) {
        ssize_t count = read(descriptor, to + *got, size - *got);
        if (count < 0 && errno != EINTR)
            return -1;
        if (count == 0)
            break;
        if (count > 0)
            *got += (size_t)count;
    }
    return 0;
}

static PyObject *read_content(int descriptor, const struct stat *status)
{
    size_t size = status->st_size > LARGEST ? 0 : (size_t)status->st_size, got = 0;
    PyObject *content = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (content == NULL)
        return NULL;
    int failed;
    uint8_t *to = (uint8_t *)PyBytes_AS_STRING(content);
    Py_BEGIN_ALLOW_THREADS
    failed = read_all(descriptor, to, size, &got);
    Py_END_ALLOW_THREADS
    if (failed < 0) {
        Py_DECREF(content);
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    if (got < size)
        _PyBytes_Resize(&content, (Py_ssize_t)got);
    return content;
}

/* read_entry(path) → (content, (inode, time, size) of the file, owner, mode), or OSError. The content is empty if the file
   exceeds the size limit. */
static PyObject *read_entry(PyObject *Py_UNUSED(module), PyObject *argument)
{
    PyObject *name;
    if (!PyUnicode_FSConverter(argument, &name))
        return NULL;
    struct stat status;
    /* Do not block on something that is not a regular file (a pipe). */
    int descriptor = open(PyBytes_AS_STRING(name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Py_DECREF(name);
    if (descriptor < 0)
        return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, argument);
    PyObject *content = NULL, *result = NULL;
    if (fstat(descriptor, &status) < 0)
        PyErr_SetFromErrno(PyExc_OSError);
    else if (!S_ISREG(status.st_mode))
        PyErr_SetString(PyExc_OSError, "not a regular file");
    else
        content = read_content(descriptor, &status);
    close(descriptor);
    if (content != NULL)
        result = Py_BuildValue("N(KLL)Ii", content, (unsigned long long)status.st_ino,
                               (long long)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec, (long long)status.st_size,
                               (unsigned int)status.st_uid, (int)(status.st_mode & 07777));
    return result;
}

static int write_all(int descriptor, const uint8_t *from, size_t size)
{
    while (size > 0) {
        ssize_t count = write(descriptor, from, size);
        if (count < 0 && errno != EINTR)
            return -1;
        if (count > 0) {
            from += count;
            size -= (size_t)count;
        }
    }
    return 0;
}

static int publish(const char *temporary, const char *final, const Py_buffer *content)
{
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return -1;
    int result = write_all(descriptor, content->buf, (size_t)content->len);
    int error = errno;
    if (close(descriptor) < 0 && result == 0) {
        result = -1;
        error = errno;
    }
    if (result == 0 && rename(temporary, final) < 0) {
        result = -1;
        error = errno;
    }
    if (result < 0)
        unlink(temporary);
    errno = error;
    return result;
}

/* write_entry(temporary, path, content): create a file atomically. Native, because a Python interrupt could come between
   creating the temporary file and removing it. */
static PyObject *write_entry(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *temporary = NULL, *final = NULL;
    Py_buffer content;
    if (!PyArg_ParseTuple(args, "O&O&y*:write_entry", PyUnicode_FSConverter, &temporary, PyUnicode_FSConverter, &final, &content)) {
        Py_XDECREF(temporary);
        Py_XDECREF(final);
        return NULL;
    }
    int result;
    Py_BEGIN_ALLOW_THREADS
    result = publish(PyBytes_AS_STRING(temporary), PyBytes_AS_STRING(final), &content);
    Py_END_ALLOW_THREADS
    if (result < 0)
        PyErr_SetFromErrno(PyExc_OSError);
    PyBuffer_Release(&content);
    Py_DECREF(temporary);
    Py_DECREF(final);
    if (result < 0)
        return NULL;
    Py_RETURN_NONE;
}

void sv_checksum(const uint8_t *from, size_t size, uint64_t lanes[2])
{
    sv_sum sum;
    sv_sum_begin(&sum, size);
    sv_sum_bytes(&sum, from, size);
    sv_sum_end(&sum);
    memcpy(lanes, sum.lanes, sizeof sum.lanes);
}

/* checksum(content, start) → 16 bytes for everything from `start` on. */
static PyObject *checksum(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer content;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "y*n:checksum", &content, &start))
        return NULL;
    if (start < 0 || start > content.len)
        start = content.len;
    uint64_t lanes[2];
    sv_checksum((const uint8_t *)content.buf + start, (size_t)(content.len - start), lanes);
    PyBuffer_Release(&content);
    return PyBytes_FromStringAndSize((const char *)lanes, sizeof lanes);
}

static PyMethodDef entry_functions[] = {
    {"read_entry", read_entry, METH_O,
     PyDoc_STR("read_entry(path, /)\n--\n\n"
               "Return the content of a file, (inode, time, size), its owner and its mode; raise OSError if it cannot be\n"
               "read. The content is empty if the file is larger than LARGEST_ENTRY.")},
    {"write_entry", write_entry, METH_VARARGS,
     PyDoc_STR("write_entry(temporary, path, content, /)\n--\n\n"
               "Write a temporary file and rename it, or leave nothing behind and raise OSError.")},
    {"checksum", checksum, METH_VARARGS,
     PyDoc_STR("checksum(content, start, /)\n--\n\n"
               "A checksum that detects damage, of the bytes from `start` on.\n\n"
               ">>> from samovar._native import checksum\n>>> checksum(b\"head body\", 5) == checksum(b\"body\", 0)\nTrue")},
    {NULL, NULL, 0, NULL},
};

int sv_cache_entry_init(PyObject *module)
{
    if (PyModule_AddIntConstant(module, "LARGEST_ENTRY", (long)LARGEST) < 0)
        return -1;
    return PyModule_AddFunctions(module, entry_functions);
}
