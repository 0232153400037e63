#include "conformance/runner/process/batches.h"

#include <poll.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>

#include "conformance/runner/process/child.h"

namespace primset::conformance {
namespace {

using Clock = Child::Clock;
using Ids = std::vector<std::string>;

struct Batch {
  Ids ids;
  int fruitless = 0;  // processes in a row that ended without taking up a case
};

// A batch on its way through one process.
struct Running {
  Batch batch;
  std::unique_ptr<Child> child;
  size_t done = 0;     // ids answered
  bool begun = false;  // the id at `done` has been begun
  bool progress = false;
  Clock::time_point deadline, started;
};

// A process that dies this often before its first case would die for ever.
constexpr int kMaxFruitless = 3;
// Processes spent on running failures again.
constexpr size_t kMostReruns = 200;

class Runner {
 public:
  Runner(const BatchOptions& options, const std::function<void(const CaseResult&)>& on_result)
      : options_(options), on_result_(on_result) {}

  void run(const Ids& ids) {
    for (size_t i = 0; i < ids.size(); i += options_.batch_size) {
      size_t end = std::min(ids.size(), i + options_.batch_size);
      queue_.push_back({Ids(ids.begin() + static_cast<std::ptrdiff_t>(i),
                            ids.begin() + static_cast<std::ptrdiff_t>(end))});
    }
    drain();
    // Now that nothing else runs: each failure alone, as long as they are few. Of many failures a
    // flake is the least worry.
    size_t together = 1 + failures_.size() / kMostReruns;
    for (const CaseResult& r : failures_) {
      if (first_.empty() || queue_.back().ids.size() == together) queue_.push_back({});
      queue_.back().ids.push_back(r.id);
      first_.emplace(r.id, &r);
    }
    drain();
  }

 private:
  void drain() {
    while (!queue_.empty() || !running_.empty()) {
      while (!queue_.empty() && running_.size() < std::max(1u, options_.jobs)) start();
      wait_for_something();
      for (size_t i = 0; i < running_.size();) {
        if (step(*running_[i])) {
          ++i;
        } else {
          running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
    }
  }

  void start() {
    auto r = std::make_unique<Running>();
    r->batch = std::move(queue_.front());
    queue_.pop_front();
    r->child = std::make_unique<Child>(options_.worker, r->batch.ids);
    r->started = Clock::now();
    r->deadline = r->started + options_.start_timeout;
    running_.push_back(std::move(r));
  }

  void wait_for_something() {
    std::vector<pollfd> fds;
    Clock::time_point next = Clock::now() + std::chrono::seconds(1);
    for (const auto& r : running_) {
      fds.push_back({r->child->fd(), POLLIN, 0});
      next = std::min(next, r->deadline);
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    poll(fds.data(), fds.size(), static_cast<int>(std::max<int64_t>(0, left + 1)));
  }

  // False when the process is done with.
  bool step(Running& r) {
    for (const std::string& line : r.child->read_lines()) {
      if (!take_line(r, line)) return finish_garbage(r, line);
    }
    if (r.child->closed()) return finish_closed(r);
    return Clock::now() < r.deadline || finish_timeout(r);
  }

  // A line must speak of the case whose turn it is.
  bool take_line(Running& r, const std::string& line) {
    if (r.done >= r.batch.ids.size()) return false;
    const std::string& current = r.batch.ids[r.done];
    if (std::optional<std::string> id = parse_begin_line(line)) {
      if (*id != current || r.begun) return false;
      r.begun = r.progress = true;
      r.started = Clock::now();
      r.deadline = r.started + options_.timeout;
      return true;
    }
    std::optional<CaseResult> result = parse_json_line(line);
    if (!result || result->id != current || !r.begun) return false;
    finish_case(r, std::move(*result));
    // The time between cases is the worker's own.
    r.deadline = Clock::now() + options_.timeout;
    return true;
  }

  void finish_case(Running& r, CaseResult result) {
    ++r.done;
    r.begun = false;
    if (result.seconds == 0) {
      result.seconds = std::chrono::duration<double>(Clock::now() - r.started).count();
    }
    report(std::move(result));
  }

  void report(CaseResult result) {
    if (auto it = first_.find(result.id); it != first_.end()) {
      const CaseResult& first = *it->second;
      if (!agrees(result.verdict.outcome)) return on_result_(first);
      result.verdict.outcome = Outcome::flake;
      result.verdict.detail =
          "passed when run alone; before: " + to_string(first.verdict.outcome, first.verdict.kind) +
          ": " + first.verdict.detail;
      return on_result_(result);
    }
    if (options_.rerun_failures && is_failure(result.verdict.outcome)) {
      failures_.push_back(std::move(result));
    } else {
      on_result_(result);
    }
  }

  // The case that was being run comes to `outcome`; what follows it in the batch is run anew.
  bool give_up(Running& r, Outcome outcome, const std::string& what) {
    r.child->kill_group();
    r.child->wait();
    std::string tail = r.child->log_tail();
    std::string detail = tail.empty() ? what : what + "; it printed:\n" + tail;
    if (r.begun) finish_case(r, {r.batch.ids[r.done], Verdict::of(outcome, detail)});
    Batch rest = std::move(r.batch);
    rest.ids.erase(rest.ids.begin(), rest.ids.begin() + static_cast<std::ptrdiff_t>(r.done));
    rest.fruitless = r.progress ? 0 : rest.fruitless + 1;
    if (rest.ids.empty()) return false;
    if (rest.fruitless < kMaxFruitless) {
      queue_.push_front(std::move(rest));
      return false;
    }
    for (const std::string& id : rest.ids) {
      report({id, Verdict::of(Outcome::not_run, "the worker never took it up: " + detail)});
    }
    return false;
  }

  bool finish_garbage(Running& r, const std::string& line) {
    return give_up(r, Outcome::test_bug,
                   "the worker wrote '" + line.substr(0, 200) + "' where a result was due");
  }

  bool finish_timeout(Running& r) {
    auto ms = options_.timeout.count();
    return give_up(r, Outcome::timeout, "no result after " + std::to_string(ms) + " ms");
  }

  bool finish_closed(Running& r) {
    if (r.done == r.batch.ids.size()) return false;  // the destructor waits
    std::string how = r.child->wait();
    return give_up(r, Outcome::crash, how.empty() ? "the process ended early" : how);
  }

  const BatchOptions& options_;
  const std::function<void(const CaseResult&)>& on_result_;
  std::deque<Batch> queue_;
  std::vector<std::unique_ptr<Running>> running_;
  std::deque<CaseResult> failures_;
  std::unordered_map<std::string, const CaseResult*> first_;  // of reruns: what came before
};

}  // namespace

void run_batches(const BatchOptions& options, const std::vector<std::string>& ids,
                 const std::function<void(const CaseResult&)>& on_result) {
  Runner(options, on_result).run(ids);
}

}  // namespace primset::conformance
