/* The number of processors that this process may use: its affinity mask, bounded by the quota of its control group. */
#define _GNU_SOURCE
#include "threads/pool.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int affinity_count(void)
{
    /* The kernel rejects a mask smaller than its own: grow until it fits. */
    for (int size = 1024; size <= 1 << 20; size *= 2) {
        cpu_set_t *mask = CPU_ALLOC(size);
        if (mask == NULL)
            break;
        int count = sched_getaffinity(0, CPU_ALLOC_SIZE(size), mask) == 0 ? CPU_COUNT_S(CPU_ALLOC_SIZE(size), mask) : 0;
        CPU_FREE(mask);
        if (count > 0)
            return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool found = fgets(line, size, file) != NULL;
    fclose(file);
    return found;
}

/* Processors granted by the "quota period" pair of one group, or infinity. */
static double quota_in(const char *folder)
{
    char path[4200], line[128], second[128];
    long long quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_line(path, line, sizeof line)) /* version 2: "max 100000" or "150000 100000" */
        return sscanf(line, "%lld %lld", &quota, &period) == 2 && period > 0 ? (double)quota / (double)period : INFINITY;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!read_line(path, line, sizeof line))
        return INFINITY;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!read_line(path, second, sizeof second))
        return INFINITY;
    quota = atoll(line); /* version 1: -1 without a quota */
    period = atoll(second);
    return quota > 0 && period > 0 ? (double)quota / (double)period : INFINITY;
}

/* A quota applies to all groups below it: take the smallest on the path to the root. */
static double smallest_quota(const char *root, char *group)
{
    double smallest = INFINITY;
    for (;;) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s%s", root, group);
        smallest = fmin(smallest, quota_in(folder));
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return smallest;
        *slash = '\0';
    }
}

/* Whether a comma-separated list names the processor controller. */
static bool controls_processors(char *controllers)
{
    char *rest;
    for (char *name = strtok_r(controllers, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        if (strcmp(name, "cpu") == 0)
            return true;
    return false;
}

static double cgroup_quota(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL)
        return INFINITY;
    double smallest = INFINITY;
    char line[2048];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        controllers++;
        if (*controllers == '\0')
            smallest = fmin(smallest, smallest_quota("/sys/fs/cgroup", group));
        else if (controls_processors(controllers))
            smallest = fmin(smallest, smallest_quota("/sys/fs/cgroup/cpu", group));
    }
    fclose(file);
    return smallest;
}

int sv_processors(void)
{
    int count = affinity_count();
    double quota = ceil(cgroup_quota());
    return quota < count ? (quota < 1 ? 1 : (int)quota) : count;
}
