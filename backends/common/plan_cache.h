// Plans of the calls of a library that were asked for lately.
#ifndef PRIMSET_BACKENDS_COMMON_PLAN_CACHE_H_
#define PRIMSET_BACKENDS_COMMON_PLAN_CACHE_H_

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace primset_backend {

// Any thread may ask. Of more than `most` shapes the one is forgotten that was not used for
// longest. A null plan, of what the library cannot do, is kept too.
template <typename Shape, typename Plan>
class PlanCache {
 public:
  explicit PlanCache(size_t most) : most_(most) {}

  // Making a plan takes its time: other threads go on meanwhile, and one that asks the same gets
  // the same answer.
  template <typename Make>
  std::shared_ptr<const Plan> get(const Shape& shape, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = by_shape_.find(shape); it != by_shape_.end()) {
        newest_first_.splice(newest_first_.begin(), newest_first_, it->second);
        return it->second->second;
      }
    }
    std::shared_ptr<const Plan> made = make();
    std::shared_ptr<const Plan> forgotten;  // released when the lock is
    const std::lock_guard lock(mutex_);
    if (const auto it = by_shape_.find(shape); it != by_shape_.end()) return it->second->second;
    newest_first_.emplace_front(shape, made);
    by_shape_[shape] = newest_first_.begin();
    if (newest_first_.size() > most_) {
      forgotten = std::move(newest_first_.back().second);
      by_shape_.erase(newest_first_.back().first);
      newest_first_.pop_back();
    }
    return made;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    by_shape_.clear();
    newest_first_.clear();
  }

 private:
  using Entry = std::pair<Shape, std::shared_ptr<const Plan>>;

  const size_t most_;
  std::mutex mutex_;
  std::list<Entry> newest_first_;
  std::map<Shape, typename std::list<Entry>::iterator> by_shape_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_PLAN_CACHE_H_
