// SPDX-License-Identifier: MIT
/// carom for C++17: handles that destroy themselves, exceptions with carom's sentence, views of
/// containers. Descriptors and results are those of the C headers, where their members are
/// explained. No array is copied.
///
///     carom::context context;
///     carom::mesh mesh(context, carom::triangles(vertices, indices)); // std::vectors
///     auto desc = carom::make<carom_mesh_sweep_desc>();
///     desc.batch.count = centers.size();
///     desc.center = carom::xyz(centers);
///     desc.velocity = carom::xyz(velocities);
///     desc.radius = carom::one(radius);
///     auto out = carom::make<carom_mesh_hit_result>();
///     out.t = times.data();
///     mesh.sweep_first(desc, out);
///
/// errors   each function that can fail throws carom::error
/// threads  as in C: calls of a context come one at a time, its meshes, scenes, buffers included
#ifndef CAROM_CAROM_HPP
#define CAROM_CAROM_HPP

#include <carom/carom.h>

#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace carom
{
/* ---- calls and errors ------------------------------------------------------------------------ */

/// A call that did not return CAROM_OK; what() is its sentence. What is thrown derives from this
/// and from std::bad_alloc if memory ran out, else from this and std::runtime_error.
struct error {
    carom_status status() const noexcept { return from_.status; }
    int native_code() const noexcept { return from_.native_code; } ///< of OpenCL or errno; 0: none
    virtual const char *what() const noexcept { return from_.message; }

  protected:
    carom_error from_;
    explicit error(const carom_error &from) noexcept : from_(from) {}
    ~error() = default;
};
template <class standard> struct failure final : standard, error {
    failure(const carom_error &from, const standard &of) : standard(of), error(from) {}
    const char *what() const noexcept override { return error::what(); }
};
inline void check(carom_status status, carom_error &err)
{
    if ((err.status = status) == CAROM_ERROR_OUT_OF_MEMORY)
        throw failure(err, std::bad_alloc());
    if (status != CAROM_OK)
        throw failure(err, std::runtime_error(err.message));
}

/// An argument as C takes it: a handle's pointer, a structure's address, anything else as it is.
template <class T> auto argument(T &value) noexcept
{
    if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>)
        return std::addressof(value);
    else if constexpr (std::is_class_v<T>)
        return value.get();
    else
        return value;
}

/// Calls any function of the C headers whose last parameter is a carom_error, which is left out:
/// call(carom_mesh_update, mesh, points, CAROM_MESH_AUTO).
template <class F, class... A> void call(F *function, A &&...arguments)
{
    carom_error err = {};
    check(function(argument(arguments)..., &err), err);
}

/// What a function creates, for its owner.
template <class T, class F, class... A> T *created(F *function, const A &...arguments)
{
    T *out = nullptr;
    call(function, arguments..., &out);
    return out;
}

/* ---- structures and views -------------------------------------------------------------------- */

/// A descriptor, result, list, info or statistics with its size set; the rest is 0, the default.
template <class T> T make() noexcept
{
    static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>, "a C structure");
    T made{};
    const std::size_t size = sizeof made; /* the first member of each */
    std::memcpy(static_cast<void *>(&made), &size, sizeof size);
    return made;
}

/// Information that a function fills in: filled<carom_mesh_info>(carom_mesh_get_info, mesh).
template <class T, class F, class... A> T filled(F *function, const A &...arguments)
{
    T out = make<T>();
    call(function, arguments..., out);
    return out;
}

/// Pointer and count: of a std::vector, std::array, std::span, an array, or given as they are.
template <class T> struct view {
    constexpr view(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class C, class E = std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>,
              class = std::enable_if_t<std::is_convertible_v<E (*)[], T (*)[]>>>
    constexpr view(C &&of) noexcept : view(std::data(of), std::size(of))
    {
    }
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

  private:
    T *data_;
    std::size_t size_;
};

/// Points in a container: of floats x y z x y z ..., or of structures that begin with x y z.
template <class C> carom_points xyz(const C &of) noexcept
{
    using element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(of))>>;
    constexpr std::size_t xyz = 3 * sizeof(float),
                          each = std::is_same_v<element, float> ? xyz : sizeof(element);
    static_assert(std::is_standard_layout_v<element> && each >= xyz &&
                      alignof(element) == alignof(float),
                  "floats x y z, or structures that begin with them");
    const float *first = reinterpret_cast<const float *>(std::data(of));
    return first == nullptr ? carom_points{nullptr, nullptr, nullptr, each}
                            : carom_strided(first, each);
}
/// Where to write points: a container as above.
template <class C> carom_points_out xyz_out(C &of) noexcept
{
    float *x = reinterpret_cast<float *>(std::data(of));
    return {x, x + 1, x + 2, xyz(of).stride};
}
inline carom_scalars scalars(view<const float> a) noexcept { return carom_scalars_of(a.data()); }
inline carom_uints uints(view<const std::uint32_t> a) noexcept { return carom_uints_of(a.data()); }
/// One number for all queries, which must live as long as the call.
inline carom_scalars one(const float &of) noexcept { return {&of, CAROM_REPEAT}; }
inline carom_uints one(const std::uint32_t &of) noexcept { return {&of, CAROM_REPEAT}; }
template <class T> void one(const T &&) = delete;

/// Reports progress to `on`, which gets done and count and returns whether the call shall end; an
/// exception of it ends the call too, and is lost. It must live as long as the call.
template <class F> carom_progress progress(F &on) noexcept
{
    return {[](void *user, std::uint64_t done, std::uint64_t count) -> int {
                try {
                    return (*static_cast<F *>(user))(done, count) ? 1 : 0;
                } catch (...) {
                    return 1;
                }
            },
            static_cast<void *>(std::addressof(on))};
}

/* ---- handles --------------------------------------------------------------------------------- */

template <auto destroy> using destroyer = std::integral_constant<decltype(destroy), destroy>;
/// Owns an object, as a std::unique_ptr does: it moves, and has get(), release(), reset(), bool.
template <class T, auto destroy> struct handle : std::unique_ptr<T, destroyer<destroy>> {
    using std::unique_ptr<T, destroyer<destroy>>::unique_ptr;
    T *asked() const noexcept { return this->get(); } ///< what queries take; of a scene its mesh
};

/// A call that goes on in the background. Its arrays belong to the library until it has ended:
/// destroying the job does not wait.
struct job : handle<carom_job, carom_job_destroy> {
    using handle::handle;
    /// Whether it has ended within so many seconds; throws what the call would have thrown.
    bool wait(double seconds = std::numeric_limits<double>::infinity()) const
    {
        carom_error err = {};
        const carom_status status = carom_job_wait(get(), seconds, &err);
        if (status != CAROM_ERROR_TIMEOUT)
            check(status, err);
        return status == CAROM_OK;
    }
    void cancel() const noexcept { carom_job_cancel(get()); }
};

/// What methods with a C function's name do: they get its arguments between handle and error. The
/// last, a pointer to carom_stats, may be left out.
template <class F, class... A> void query(F *function, const A &...with)
{
    if constexpr (std::is_invocable_v<F *, decltype(argument(with))..., carom_error *>)
        call(function, with...);
    else
        call(function, with..., nullptr);
}
/// The same in the background: start(carom_mesh_closest, mesh, desc, out, &stats).
template <class F, class H, class D, class... A>
job start(F *function, const H &of, D desc, const A &...others)
{
    carom_job *raw = nullptr;
    desc.batch.job = &raw;
    query(function, of, desc, others...);
    return job(raw);
}

#define CAROM_HPP_QUERY(name, function)                                     \
    template <class... A> void name(const A &...with) const                 \
    {                                                                       \
        query(function, static_cast<const self &>(*this).asked(), with...); \
    }

struct context : handle<carom_context, carom_context_destroy> {
    using self = context;
    using handle::handle;
    context() : context(carom_context_desc_default()) {}
    explicit context(const carom_context_desc &desc)
        : handle(created<carom_context>(carom_context_create, desc))
    {
    }
    CAROM_HPP_QUERY(sweep_pairs, carom_sweep_pairs)
    CAROM_HPP_QUERY(overlap_pairs, carom_overlap_pairs)
    CAROM_HPP_QUERY(sphere_sweep_pairs, carom_sphere_sweep_pairs)
    CAROM_HPP_QUERY(cloud_list, carom_cloud_list)
    CAROM_HPP_QUERY(cloud_first, carom_cloud_first)
    CAROM_HPP_QUERY(cloud_any, carom_cloud_any)
    CAROM_HPP_QUERY(cloud_count, carom_cloud_count)
    CAROM_HPP_QUERY(cloud_order, carom_cloud_order)
    CAROM_HPP_QUERY(contacts_match, carom_contacts_match)
};

/// The queries of a mesh, and of a scene's.
template <class self> struct mesh_queries {
    CAROM_HPP_QUERY(sweep_first, carom_mesh_sweep_first)
    CAROM_HPP_QUERY(sweep_list, carom_mesh_sweep_list)
    CAROM_HPP_QUERY(sweep_any, carom_mesh_sweep_any)
    CAROM_HPP_QUERY(overlap_any, carom_mesh_overlap_any)
    CAROM_HPP_QUERY(overlap_list, carom_mesh_overlap_list)
    CAROM_HPP_QUERY(closest, carom_mesh_closest)
    CAROM_HPP_QUERY(contacts, carom_mesh_contacts)
    CAROM_HPP_QUERY(distance, carom_mesh_distance)
    CAROM_HPP_QUERY(clearance, carom_mesh_clearance)
    CAROM_HPP_QUERY(drop, carom_mesh_drop)
    CAROM_HPP_QUERY(drop_at, carom_mesh_drop_at)
};
#undef CAROM_HPP_QUERY

/// An object of a context, made from its descriptor.
template <class T, class D, auto create, auto destroy> struct object : handle<T, destroy> {
    using handle<T, destroy>::handle;
    object(const context &of, const D &desc) : handle<T, destroy>(created<T>(create, of, desc)) {}
};

struct mesh : object<carom_mesh, carom_mesh_desc, carom_mesh_create, carom_mesh_destroy>,
              mesh_queries<mesh> {
    using object::object;
    template <class C> void update(const C &vertices, carom_mesh_follow how = CAROM_MESH_AUTO) const
    {
        call(carom_mesh_update, *this, xyz(vertices), how);
    }
};
/// A mesh without masks: vertices as of xyz(), three indices for each triangle.
template <class C>
carom_mesh_desc triangles(const C &vertices, view<const std::uint32_t> indices) noexcept
{
    auto desc = make<carom_mesh_desc>();
    desc.vertices = xyz(vertices);
    desc.vertex_count = std::size(vertices) * sizeof *std::data(vertices) / desc.vertices.stride;
    desc.indices = uints(indices);
    desc.triangle_count = indices.size() / 3;
    return desc;
}

struct scene : object<carom_scene, carom_scene_desc, carom_scene_create, carom_scene_destroy>,
               mesh_queries<scene> {
    using object::object;
    carom_mesh *asked() const noexcept { return carom_scene_mesh(get()); }
    void update(const carom_scene_pose &pose) const { call(carom_scene_update, *this, pose); }
};

/// carom_buffer_address(buffer.get()) is its address.
struct buffer : object<carom_buffer, carom_buffer_desc, carom_buffer_create, carom_buffer_destroy> {
    using object::object;
    /// Copies all elements of a container to byte `offset` and on, or back.
    template <class C> void write(std::uint64_t offset, const C &from) const
    {
        static_assert(std::is_trivially_copyable_v<std::decay_t<decltype(from[0])>>, "bytes");
        call(carom_buffer_write, *this, offset, std::data(from), std::size(from) * sizeof from[0]);
    }
    template <class C> void read(std::uint64_t offset, C &to) const
    {
        static_assert(std::is_trivially_copyable_v<std::decay_t<decltype(to[0])>>, "bytes");
        call(carom_buffer_read, *this, offset, std::data(to), std::size(to) * sizeof to[0]);
    }
};

} // namespace carom

#endif
