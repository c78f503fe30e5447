/* Records every change to the files of one folder, in order, and every sync of them: a disk's view of a program.

   LD_PRELOAD this with LOOM_RECORD_FOLDER and LOOM_RECORD_LOG set. A record is a line of text, followed by data for a
   write:  W name offset length\n<bytes>   T name length\n   S name\n   U name\n   (write, truncate, sync, unlink) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;

static ssize_t real_write(int fd, const void *data, size_t length) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = dlsym(RTLD_NEXT, "write");
    return next(fd, data, length);
}

/* The name inside of the folder, or NULL for a file that is not watched. */
static const char *watched(const char *path) {
    const char *folder = getenv("LOOM_RECORD_FOLDER");
    size_t length = folder ? strlen(folder) : 0;
    if (!length || strncmp(path, folder, length) || path[length] != '/') return NULL;
    const char *name = path + length + 1;
    return strstr(name, "-shm") || strchr(name, '/') ? NULL : name;
}

static const char *name_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    return watched(path);
}

static void note(const char *head, const void *data, size_t length) {
    if (log_fd < 0) log_fd = open(getenv("LOOM_RECORD_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    real_write(log_fd, head, strlen(head));
    if (length) real_write(log_fd, data, length);
}

static void wrote(int fd, const void *data, size_t length, off_t offset) {
    char path[4096], head[4200];
    const char *name = name_of(fd, path, sizeof path);
    if (!name) return;
    snprintf(head, sizeof head, "W %s %lld %zu\n", name, (long long)offset, length);
    note(head, data, length);
}

static void happened(char what, int fd, long long length) {
    char path[4096], head[4200];
    const char *name = name_of(fd, path, sizeof path);
    if (!name) return;
    if (what == 'T') snprintf(head, sizeof head, "T %s %lld\n", name, length);
    else snprintf(head, sizeof head, "%c %s\n", what, name);
    note(head, NULL, 0);
}

#define CHANGE(call, record) \
    pthread_mutex_lock(&lock); \
    __typeof__(call) done = call; \
    if (done >= 0) record; \
    pthread_mutex_unlock(&lock); \
    return done;

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    static ssize_t (*next)(int, const void *, size_t, off64_t);
    if (!next) next = dlsym(RTLD_NEXT, "pwrite64");
    CHANGE(next(fd, data, length, offset), wrote(fd, data, (size_t)done, offset))
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return pwrite64(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
    CHANGE(real_write(fd, data, length), wrote(fd, data, (size_t)done, lseek(fd, 0, SEEK_CUR) - done))
}

int ftruncate64(int fd, off64_t length) {
    static int (*next)(int, off64_t);
    if (!next) next = dlsym(RTLD_NEXT, "ftruncate64");
    CHANGE(next(fd, length), happened('T', fd, length))
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int fsync(int fd) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fsync");
    CHANGE(next(fd), happened('S', fd, 0))
}

int fdatasync(int fd) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fdatasync");
    CHANGE(next(fd), happened('S', fd, 0))
}

int unlink(const char *path) {
    static int (*next)(const char *);
    if (!next) next = dlsym(RTLD_NEXT, "unlink");
    const char *name = watched(path);
    char head[4200];
    if (name) snprintf(head, sizeof head, "U %s\n", name);
    CHANGE(next(path), if (name) note(head, NULL, 0))
}
