/* SPDX-License-Identifier: MIT */
/* HDF5 files are read in a process of their own, because the library may crash on a damaged file or never end. That
 * process is the command again, with a hidden first argument: a fork of a process with threads could not be used. It
 * answers requests on its standard input, a socket, until its other end is closed. */
#ifndef CAROM_CLI_TABLE_HDF5_CHILD_H
#define CAROM_CLI_TABLE_HDF5_CHILD_H

#include "hdf5.h"

#define HDF5_COMMAND "read-hdf5"

/* Arrays of a file; seconds of processor time for a request, and one more for each MiB that it asks for. */
enum { HDF5_ARRAYS = 64, HDF5_SECONDS = 20, HDF5_NAME = 512 };
static const uint64_t HDF5_MEMORY = UINT64_C(1) << 32; /* bytes, at most half of what is free */

typedef enum hdf5_what {
    HDF5_OPENED,   /* 0 if the file is open */
    HDF5_HAS,      /* 1 if it has the name */
    HDF5_CHILDREN, /* how many members the group has; text: the name of the only one */
    HDF5_MEMBER,   /* `array`: which member of the group, by name; 1 if it is a dataset; text: its name */
    HDF5_WORDS,    /* 1 if the object has the attribute; text: its words */
    HDF5_ARRAY,    /* the number of the dataset that is opened; form */
    HDF5_NUMBERS   /* 1, and `bytes` bytes of them behind the answer */
} hdf5_what;

typedef struct hdf5_request {
    hdf5_what what;
    int32_t array;
    uint64_t from[HDF5_AXES], count[HDF5_AXES], bytes;
    char name[HDF5_NAME], attribute[64];
} hdf5_request;

typedef struct hdf5_answer {
    int64_t result; /* negative: it failed, and `error` has the library's reason */
    uint64_t bytes;
    hdf5_form form;
    char text[HDF5_TEXT], error[HDF5_TEXT];
} hdf5_answer;

/* `carom read-hdf5 PARENT PATH`: the whole of that process. */
int hdf5_child(int argc, char **argv);

#endif
