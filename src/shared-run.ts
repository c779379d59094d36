/**
 * Runs of the same work, one at a time. Calls that come while one is under way share the next: it begins after them, so
 * that it sees what was there when they came.
 */
export function sharedRun<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;
  const run = () => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (running === undefined) return next ?? run();
    next ??= running.then(run, run);
    return next;
  };
}
