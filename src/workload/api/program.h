// workload/api/program.h — a task's behaviour: a C++20 coroutine that yields Op values.
//
//   Program hog(Arena&, Duration burst) { for (;;) co_yield op::run(burst); }
//
// Frames come from the run's arena: the coroutine's first parameter must be `Arena&`. Parameters
// are copied into the frame; pass values, or references to what lives as long as the run.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "base/arena.h"
#include "workload/api/op.h"

namespace runqlab {

class Program {
 public:
  struct promise_type {
    Op current{};

    template <class... A>
    static void* operator new(size_t bytes, Arena& arena, A&&...) {
      return arena.allocate(bytes);
    }
    // The arena frees.
    static void operator delete(void*) {}

    Program get_return_object() {
      return Program(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const Op& op) noexcept {
      current = op;
      return {};
    }
    void return_void() noexcept { current = op::exit(); }
    [[noreturn]] void unhandled_exception() { std::terminate(); }
  };

  Program() = default;
  explicit Program(std::coroutine_handle<promise_type> h) : h_(h) {}
  Program(Program&& o) noexcept : h_(std::exchange(o.h_, nullptr)) {}
  Program& operator=(Program&& o) noexcept {
    std::swap(h_, o.h_);
    return *this;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (h_) h_.destroy();
  }

  // The next thing to do; Op::exit when the program is over (and ever after).
  Op next() {
    if (!h_ || h_.done()) return op::exit();
    h_.resume();
    return h_.promise().current;
  }

 private:
  std::coroutine_handle<promise_type> h_;
};

}  // namespace runqlab
