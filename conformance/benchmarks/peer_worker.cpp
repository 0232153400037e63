// Primset's half of compare_with_pytorch.py: one command a line on standard input, one line of
// answer each.
//
//   inputs FOLDER            writes x, y, weight and bias there, raw f32      -> ok
//   check CASE FILE          one poisoned run; the result to FILE, raw f32    -> ok
//   check_out CASE FILE      the same with out=
//   time CASE SECONDS        median of calls over so many seconds             -> NANOSECONDS BYTES
//   time_out CASE SECONDS
//   copy SECONDS             a plain copy of 64 MiB by the C library          -> NANOSECONDS BYTES
//   index_put BYTES SECONDS  one element into a tensor of so many bytes       -> NANOSECONDS BYTES
//
// What fails is answered with `error TEXT`.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/benchmarks/memory_cases.h"

namespace primset::benchmarks {
namespace {

// Median nanoseconds of `work`, over so many seconds after one call that does not count.
double median_time(double seconds, auto&& work) {
  using Clock = std::chrono::steady_clock;
  work();
  std::vector<double> times;
  double total = 0;
  while (total < seconds * 1e9) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    total += times.back();
  }
  std::ranges::nth_element(times, times.begin() + static_cast<ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

void write_file(const std::string& path, const Tensor& t) {
  const auto values = t.to_vector<float>();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!out.flush()) throw Error(ErrorCode::runtime, fmt::format("cannot write '{}'", path));
}

class Worker {
 public:
  Worker(Device device, int threads)
      : device_(device), threads_(threads), inputs_(make_inputs(device)) {}

  std::string answer(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    if (words.empty()) throw Error(ErrorCode::value, "an empty line");
    const std::string& command = words[0];
    const auto expect = [&](size_t count) {
      if (words.size() != count + 1)
        throw Error(ErrorCode::value, fmt::format("'{}' has {} arguments, expected {}", command,
                                                  words.size() - 1, count));
    };
    if (command == "inputs") return expect(1), write_inputs(words[1]);
    if (command == "copy") return expect(1), time_copy(std::stod(words[1]));
    expect(2);
    if (command == "index_put") return time_index_put(std::stoll(words[1]), std::stod(words[2]));
    const bool with_out = command.ends_with("_out");
    if (command.starts_with("check")) return check(words[1], with_out, words[2]);
    if (command.starts_with("time")) return time(words[1], with_out, std::stod(words[2]));
    throw Error(ErrorCode::value, fmt::format("unknown command '{}'", command));
  }

 private:
  static std::string timed(double nanoseconds, double bytes) {
    return fmt::format("{:.1f} {:.0f}", nanoseconds, bytes);
  }
  const PreparedCase& prepared(const std::string& name, bool with_out) {
    const auto key = std::pair(name, with_out);
    auto found = prepared_.find(key);
    if (found == prepared_.end())
      found = prepared_.try_emplace(key, memory_case(name), inputs_, with_out).first;
    return found->second;
  }

  std::string write_inputs(const std::string& folder) {
    write_file(folder + "/x", inputs_.x);
    write_file(folder + "/y", inputs_.y);
    write_file(folder + "/weight", inputs_.weight);
    write_file(folder + "/bias", inputs_.bias);
    return "ok";
  }
  std::string check(const std::string& name, bool with_out, const std::string& file) {
    write_file(file, prepared(name, with_out).run_poisoned());
    return "ok";
  }
  std::string time(const std::string& name, bool with_out, double seconds) {
    const PreparedCase& c = prepared(name, with_out);
    const double ns = median_time(seconds, [&] {
      c.run();
      synchronize(device_);
    });
    return timed(ns, memory_case(name).bytes);
  }
  std::string time_copy(double seconds) {
    if (from_.empty()) {
      from_.assign(size_t{4} * kRows * kColumns, 1);
      to_.assign(from_.size(), 2);
    }
    const double ns =
        median_time(seconds, [&] { plain_copy(to_.data(), from_.data(), to_.size(), threads_); });
    return timed(ns, 2.0 * static_cast<double>(to_.size()));
  }
  std::string time_index_put(int64_t bytes, double seconds) {
    static const Operator op("index_put_");
    const Tensor self = Tensor::empty({bytes / 4}, DType::f32, device_);
    Operator("zero_")(self);
    const Tensor index = Tensor::of<int64_t>({bytes / 8}, {1}, device_);
    const Tensor value = Tensor::of<float>({1.0f}, {1}, device_);
    const Value args[] = {self, std::vector<Tensor>{index}, value};
    const double ns = median_time(seconds, [&] {
      for (int i = 0; i < 100; ++i) op.invoke(args);
      synchronize(device_);
    });
    const double written = Operator("select.int")(self, 0, bytes / 8).tensor().item().to_double();
    if (written != 1.0)
      throw Error(ErrorCode::value, fmt::format("index_put_ wrote {}, expected 1", written));
    return timed(ns / 100, 4);
  }

  Device device_;
  int threads_;
  Inputs inputs_;
  std::map<std::pair<std::string, bool>, PreparedCase> prepared_;
  std::vector<char> from_, to_;
};

int run(const std::string& device, int threads) {
  setenv("PRIMSET_CPU_THREADS", std::to_string(threads).c_str(), 1);
  Worker worker(device, threads);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::string answer;
    try {
      answer = worker.answer(line);
    } catch (const std::exception& e) {
      answer = std::string("error ") + e.what();
      std::ranges::replace(answer, '\n', ' ');
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace primset::benchmarks

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: primset_peer_worker DEVICE THREADS  (see peer_worker.cpp)\n");
    return 2;
  }
  try {
    return primset::benchmarks::run(argv[1], std::atoi(argv[2]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "primset_peer_worker: %s\n", e.what());
    return 3;
  }
}
