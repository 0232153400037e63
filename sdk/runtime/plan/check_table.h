// The errors that the error slot codes of one program stand for.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_CHECK_TABLE_H_
#define PRIMSET_SDK_RUNTIME_PLAN_CHECK_TABLE_H_

#include <string>
#include <vector>

#include "codegen/schedule/program/program.h"
#include "primset/error.h"

namespace primset::runtime {

// What a check of a program found, which may be told long after the call that it was made for.
class CheckError : public Error {
 public:
  CheckError(ErrorCode code, const std::string& op, const std::string& message)
      : Error(code, op + ": " + message), op_(op) {}
  const std::string& op() const { return op_; }

 private:
  std::string op_;
};

class CheckTable {
 public:
  CheckTable(std::string op, std::vector<schedule::CheckSite> sites)
      : op_(std::move(op)), sites_(std::move(sites)) {}

  // The error for a slot whose code is not 0.
  CheckError error(const schedule::ErrorSlot& slot) const;

 private:
  std::string op_;
  std::vector<schedule::CheckSite> sites_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_CHECK_TABLE_H_
