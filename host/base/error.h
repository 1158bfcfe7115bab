/* SPDX-License-Identifier: MIT */
/* Errors and log lines. */
#ifndef CAROM_HOST_BASE_ERROR_H
#define CAROM_HOST_BASE_ERROR_H
#include "cpu/threads/float_mode.h"
#include "carom/carom.h"

enum { CAROMI_NO_NATIVE_CODE = 0 };
/* Fills *err, if it is not NULL, and returns `status`. */
carom_status caromi_fail(carom_error *err, carom_status status, int native_code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The two commonest failures. They have no native code, which is a driver's or system's own number of an error. */
#define caromi_fail_argument(err, ...) \
    caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, CAROMI_NO_NATIVE_CODE, __VA_ARGS__)
#define caromi_fail_memory(err, ...) caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, CAROMI_NO_NATIVE_CODE, __VA_ARGS__)
void caromi_log(const carom_context *context, carom_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Evaluates a call; if its status is not CAROM_OK, returns it from the calling function. */
#define CHECK(call)                               \
    do {                                          \
        const carom_status check_status = (call); \
        if (check_status != CAROM_OK)             \
            return check_status;                  \
    } while (0)
#define CHECK_NOT_NULL(argument, name, err)                             \
    do {                                                                \
        if ((argument) == NULL)                                         \
            return caromi_fail_argument(err, name " must not be NULL"); \
    } while (0)

/* Evaluates and returns a call in the library's floating-point mode. For every public function that computes or calls a
 * driver: the caller may use another rounding mode, flush denormals or trap on exceptions. Its floating-point
 * environment, with sticky flags, is restored afterwards. */
#define IN_FLOAT_MODE(call)                                      \
    do {                                                         \
        const caromi_float_mode mode_ = caromi_float_mode_set(); \
        const carom_status status_ = (call);                     \
        caromi_float_mode_restore(mode_);                        \
        return status_;                                          \
    } while (0)
#endif
