/**
 * Runs `action`. Returns the largest number of keys that any `Map` had when a key was set, and the largest number of
 * calls to `Map.prototype.set` and `Map.prototype.delete` between two calls to `endOfStep`.
 */
export function countWork(action: (endOfStep: () => void) => void): { largest: number; mostCalls: number } {
  const { set, delete: remove } = Map.prototype;
  let [largest, mostCalls, calls] = [0, 0, 0];
  Map.prototype.set = function (key, value) {
    calls++;
    set.call(this, key, value);
    if (this.size > largest) largest = this.size;
    return this;
  };
  Map.prototype.delete = function (key) {
    calls++;
    return remove.call(this, key);
  };
  try {
    action(() => {
      mostCalls = Math.max(mostCalls, calls);
      calls = 0;
    });
  } finally {
    Object.assign(Map.prototype, { set, delete: remove });
  }
  return { largest, mostCalls };
}
