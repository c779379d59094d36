/** What wanted a turn did not get it in time. */
export class TurnTimeout extends Error {}

/**
 * A runner of work of which at most `max` is under way at once. The rest waits in the order in which it came, each for at
 * most `waitMsMax`; then it is refused with TurnTimeout.
 */
export function atMost(max: number, waitMsMax: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting = new Set<() => void>();
  let running = 0;
  const turn = () =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        waiting.delete(begin);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(new TurnTimeout('no turn in time'));
      }, waitMsMax);
      waiting.add(begin);
    });
  return async (work) => {
    if (running < max) running++;
    else await turn();
    try {
      return await work();
    } finally {
      // A turn is handed on, so that what comes meanwhile is not before what waits.
      const [next] = waiting;
      if (next === undefined) running--;
      else next();
    }
  };
}
