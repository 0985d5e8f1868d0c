// Work that is done by several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace rankgauge {

// Does work(thread, failed) in up to so many threads; false if it threw in one of them: irregular, or no memory.
template <typename Work>
bool in_threads(std::size_t threads, std::size_t most, Work work) {
    std::atomic<bool> failed{false};
    const auto safely = [&](std::size_t number) {
        try {
            work(number, failed);
        } catch (...) {
            failed = true;
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::size_t i = 1; i < threads && i < most; ++i) others.emplace_back(safely, i);
    } catch (...) {  // no more threads: those there are will do
    }
    safely(0);
    for (std::thread& other : others) other.join();
    return !failed;
}

}  // namespace rankgauge
