// What no plugin may do, for hostile_plugin.c, which is C and cannot.
#include <stdexcept>

extern "C" void hostile_throw() {
  throw std::runtime_error("thrown by the \x1b[31mplugin");
}
