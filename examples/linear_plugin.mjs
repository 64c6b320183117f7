/**
 * A plugin for the command. Registers a limiter that delays an item by one step after the first failure, by two steps
 * after the second failure, and so on.
 *
 *     workqueue delays examples/linear.yaml --plugin examples/linear_plugin.mjs
 *
 * The plugin imports nothing, so it works in any folder and on every runtime.
 */
export default ({ limiters }) => {
  limiters.register({
    type: "linear",
    description: "Adds one step to the delay with each failure.",
    options: {
      step: { kind: "duration", min: 1, description: "Delay that each failure adds." },
    },
    create({ step }) {
      const failures = new Map();
      const count = (key) => failures.get(key) ?? 0;
      const next = (failures) => failures * step;
      return {
        next, // called by queues, which count the failures themselves
        when(item, key = item) {
          failures.set(key, count(key) + 1);
          return next(count(key));
        },
        forget: (item, key = item) => void failures.delete(key),
        numRequeues: (item, key = item) => count(key),
      };
    },
  });
};
