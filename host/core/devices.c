/* SPDX-License-Identifier: MIT */
/* Opens and closes the devices of a context. */
#include "devices.h"

#include <stdio.h>
#include <string.h>

#include "device.h"

caromi_device *caromi_first_device(const carom_context *context)
{
    for (uint32_t i = 0; i < context->device_count; i++)
        if (context->devices[i] != NULL)
            return context->devices[i];
    return NULL;
}

void caromi_devices_close(carom_context *context)
{
    for (uint32_t i = 0; i < context->device_count; i++) {
        caromi_driver.close(context->devices[i]);
        context->devices[i] = NULL;
    }
}

/* Closes a device that has failed. */
void caromi_give_up(carom_context *context, caromi_device *device, carom_status status, const carom_error *cause)
{
    context->devices[caromi_driver.place(device)] = NULL;
    caromi_driver.close(device);
    context->device_lacking = *cause;
    context->device_lacking.status = status;
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

/* Opens a thread for each device, besides the context's pool: a device that waits for its driver blocks its thread. */
static carom_status open_pool(carom_context *context, carom_error *err)
{
    void *memory = caromi_alloc(context, 1, caromi_pool_size(context->device_count));
    if (memory == NULL)
        return caromi_fail_memory(err, "no memory for the threads of %u devices (%zu bytes)", context->device_count,
                                  caromi_pool_size(context->device_count));
    context->device_pool = caromi_pool_open(memory, context->device_count);
    if (context->device_pool == NULL)
        caromi_free(context, memory);
    const uint32_t started = caromi_pool_threads(context->device_pool);
    if (started < context->device_count)
        caromi_log(context, CAROM_LOG_WARNING, "%u of %u devices at a time: the system starts no more threads", started,
                   context->device_count);
    return CAROM_OK;
}

/* Handles a device of a list that cannot be used: an error, unless `auto` may continue with the others. */
static carom_status refuse(carom_context *context, const char *name, carom_status status, const carom_error *why,
                           carom_error *err)
{
    if (context->desc.backend != CAROM_BACKEND_AUTO || status == CAROM_ERROR_INVALID_ARGUMENT)
        return caromi_fail(err, status, why->native_code, "device '%.60s': %s", name, why->message);
    caromi_log(context, CAROM_LOG_WARNING, "auto goes on without device '%.60s': %s", name, why->message);
    (void)caromi_fail(err, status, why->native_code, "device '%.60s': %s", name, why->message);
    context->device_lacking = *err; /* for later calls that need this device */
    return CAROM_OK;
}

/* Ends the opening of a list. why: the error of the last device that was refused. */
static carom_status conclude(carom_context *context, const carom_error *why, carom_error *err)
{
    if (caromi_first_device(context) == NULL)
        return caromi_fail(err, why->status, why->native_code, "%s", why->message);
    return open_pool(context, err);
}

/* ---- lists of names ---------------------------------------------------------------------------------------------- */

/* The names of a list, without surrounding spaces. */
typedef struct name_list {
    char text[512]; /* names separated by zeros */
    const char *name[CAROM_DEVICES_MAX];
    uint32_t count;
} name_list;

static carom_status read_list(const char *selector, name_list *list, carom_error *err)
{
    const size_t length = strlen(selector);
    if (length >= sizeof list->text)
        return caromi_fail_argument(err, "device is a list of %zu characters; at most %zu", length,
                                    sizeof list->text - 1);
    memcpy(list->text, selector, length + 1);
    list->count = 0;
    for (char *at = list->text, *next = at; next != NULL; at = next) {
        char *end = at + strcspn(at, ",");
        next = *end == ',' ? end + 1 : NULL;
        while (*at == ' ')
            at++;
        while (end > at && end[-1] == ' ')
            end--;
        *end = '\0';
        if (*at == '\0')
            return caromi_fail_argument(err, "device is '%.100s': a name of the list is empty", selector);
        if (list->count == CAROM_DEVICES_MAX)
            return caromi_fail_argument(err, "device lists more than %d devices", CAROM_DEVICES_MAX);
        list->name[list->count++] = at;
    }
    return CAROM_OK;
}

/* Opens the device of a name; an error if an earlier name means the same device. */
static carom_status open_name(carom_context *context, const name_list *list, uint32_t place, carom_error *err)
{
    char number[16];
    uint32_t index = 0;
    CHECK(caromi_driver.find(context, list->name[place], &index, err));
    for (uint32_t i = 0; i < place; i++)
        if (context->devices[i] != NULL && caromi_driver.index(context->devices[i]) == index)
            return caromi_fail_argument(err, "it is device %u, as is '%.60s' before it", index, list->name[i]);
    (void)snprintf(number, sizeof number, "%u", index);
    return caromi_driver.open(context, place, number, 0, &context->devices[place], err);
}

static carom_status open_list(carom_context *context, const name_list *list, carom_error *err)
{
    carom_error last = {CAROM_OK, 0, ""};
    context->device_count = list->count;
    for (uint32_t place = 0; place < list->count; place++) {
        carom_error why = {CAROM_OK, 0, ""};
        const carom_status status = open_name(context, list, place, &why);
        if (status != CAROM_OK) {
            const carom_status refused = refuse(context, list->name[place], status, &why, &last);
            if (refused != CAROM_OK)
                return caromi_fail(err, refused, last.native_code, "%s", last.message);
        }
    }
    return conclude(context, &last, err);
}

/* Whether the selector is a list. A comma may be part of a device's name: a device of the whole name has precedence. */
static int is_list(const carom_context *context)
{
    uint32_t index;
    return context->device_selector != NULL && strchr(context->device_selector, ',') != NULL &&
           caromi_driver.find(context, context->device_selector, &index, NULL) == CAROM_ERROR_NO_DEVICE;
}

/* Opens what the context's selector names: one device, or several separated by commas (docs/devices.md, "Several
 * devices"). */
carom_status caromi_devices_open(carom_context *context, int gpu_only, carom_error *err)
{
    if (!is_list(context)) {
        context->device_count = 1;
        return caromi_driver.open(context, 0, context->device_selector, gpu_only, &context->devices[0], err);
    }
    name_list list;
    carom_status status = read_list(context->device_selector, &list, err);
    if (status == CAROM_OK)
        status = open_list(context, &list, err);
    if (status != CAROM_OK)
        caromi_devices_close(context);
    return status;
}

/* ---- the caller's ------------------------------------------------------------------------------------------------ */

carom_status caromi_devices_open_shared(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err)
{
    const uint32_t count = caromi_driver.shared_devices(cl);
    carom_error last = {CAROM_OK, 0, ""};
    carom_status status = CAROM_OK;
    context->device_count = count;
    if (count == 1)
        return caromi_driver.open_shared(context, cl, 0, &context->devices[0], err);
    for (uint32_t place = 0; status == CAROM_OK && place < count; place++) {
        carom_error why = {CAROM_OK, 0, ""};
        char name[32];
        (void)snprintf(name, sizeof name, "cl.devices[%u]", place);
        status = caromi_driver.open_shared(context, cl, place, &context->devices[place], &why);
        if (status != CAROM_OK)
            status = refuse(context, name, status, &why, &last);
    }
    if (status != CAROM_OK)
        (void)caromi_fail(err, status, last.native_code, "%s", last.message);
    else
        status = conclude(context, &last, err);
    if (status != CAROM_OK)
        caromi_devices_close(context);
    return status;
}
