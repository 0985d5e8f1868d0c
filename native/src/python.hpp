// What the parts that speak with Python share: its header, references and buffers that are given back, arrays as bytes.
#pragma once

#ifdef _WIN32
#define _CRT_SECURE_NO_WARNINGS
#define NOMINMAX
#endif
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rankgauge {

// The interpreter runs on while this lives.
class Released {
public:
    Released() : state_(PyEval_SaveThread()) {}
    ~Released() { PyEval_RestoreThread(state_); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

private:
    PyThreadState* state_;
};

// A reference of one's own to an object, or to none.
class Held {
public:
    Held() = default;
    static Held borrowed(PyObject* object) {
        Py_XINCREF(object);
        return Held(object);
    }
    static Held owned(PyObject* object) { return Held(object); }
    Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Held& operator=(Held&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { Py_XDECREF(object_); }
    PyObject* get() const { return object_; }
    PyObject* given_away() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    explicit Held(PyObject* object) : object_(object) {}
    PyObject* object_ = nullptr;
};

class Buffer {
public:
    Buffer() = default;
    ~Buffer() {
        if (held_) PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    bool take(PyObject* object) {
        held_ = PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) == 0;
        return held_;
    }
    template <typename T>
    const T* as(std::size_t rows) const {
        return static_cast<std::size_t>(view_.len) == rows * sizeof(T) ? static_cast<const T*>(view_.buf) : nullptr;
    }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }
    const char* text() const { return static_cast<const char*>(view_.buf); }

private:
    Py_buffer view_{};
    bool held_ = false;
};

template <typename T>
PyObject* bytes_of(const std::vector<T>& values) {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(values.data()),
                                     static_cast<Py_ssize_t>(values.size() * sizeof(T)));
}

// Room for so many numbers in bytes that are being made; they are given away to the caller of `take`.
template <typename T>
class Filled {
public:
    explicit Filled(std::size_t size)
        : made_(Held::owned(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size * sizeof(T))))),
          at_(made_ ? reinterpret_cast<T*>(PyBytes_AsString(made_.get())) : nullptr) {}
    T* at() const { return at_; }
    PyObject* take() { return made_.given_away(); }

private:
    Held made_;
    T* at_;
};

}  // namespace rankgauge
