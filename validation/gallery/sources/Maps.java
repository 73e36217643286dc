// SPDX-License-Identifier: Apache-2.0
// Maps that are larger than the caches, on threads of the program's own, with garbage to collect.
import java.util.HashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;

public class Maps {
  static long work(int seed) {
    HashMap<Integer, String> map = new HashMap<>();
    for (int i = 0; i < 300000; ++i) map.put((i * 7919 + seed) % 1000003, "item " + i);
    long sum = 0;
    for (long i = 0; i < 1000003; ++i) {
      String found = map.get((int) (i * 104729 % 1000003));
      if (found != null) sum += found.hashCode() * (i % 7);
    }
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    var pool = Executors.newFixedThreadPool(2);
    List<Future<Long>> sums = new ArrayList<>();
    for (int seed = 0; seed < 4; ++seed) {
      final int own = seed;
      sums.add(pool.submit((Callable<Long>) () -> work(own)));
    }
    for (Future<Long> sum : sums) System.out.println(sum.get());
    pool.shutdown();
  }
}
