// A flow graph: one node, four that follow it, and a join of the four; three messages through it, one after the other.
#include "tbb.h"
int main() {
  Threads asked;
  using namespace tbb::flow;
  graph g;
  function_node<int, int> first(g, serial, [](int i) { spin(3000); return i; });
  auto work = [](int i) { spin(5000); return i; };
  function_node<int, int> a(g, serial, work), b(g, serial, work), c(g, serial, work), d(g, serial, work);
  join_node<std::tuple<int, int, int, int>> join(g);
  function_node<std::tuple<int, int, int, int>> last(g, serial, [](const std::tuple<int, int, int, int> &) { spin(2000); });
  make_edge(first, a); make_edge(first, b); make_edge(first, c); make_edge(first, d);
  make_edge(a, input_port<0>(join)); make_edge(b, input_port<1>(join));
  make_edge(c, input_port<2>(join)); make_edge(d, input_port<3>(join));
  make_edge(join, last);
  for (int i = 0; i < 3; i++) {
    first.try_put(i);
    g.wait_for_all();
  }
  TRUTH("work_us=75000 span_us=30000");
}
