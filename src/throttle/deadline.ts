import { REDIS_COMMAND_MS, REDIS_SILENCE_MS, REDIS_STEP_MS } from '../limits.ts';
import { asRedisFault, RedisFault } from './redis-fault.ts';

/**
 * Deadlines of the commands on one connection. A command is given up when its own time is over, or when no reply to any command
 * has come for a while: commands that wait in a long line which moves are no sign of an outage.
 */
export class ReplyDeadlines {
  #replies = 0;

  /** Throws RedisFault. */
  await<Reply>(reply: Promise<Reply>): Promise<Reply> {
    let seen = this.#replies;
    let silentMs = 0;
    const isOver = (waitedMs: number) => {
      silentMs = seen === this.#replies ? silentMs + REDIS_STEP_MS : 0;
      seen = this.#replies;
      return silentMs >= REDIS_SILENCE_MS || waitedMs >= REDIS_COMMAND_MS;
    };
    return settle(reply, isOver, () => {
      this.#replies++;
    });
  }
}

/** Throws RedisFault. */
export function within<Reply>(reply: Promise<Reply>, timeoutMs: number): Promise<Reply> {
  return settle(reply, (waitedMs) => waitedMs >= timeoutMs);
}

/**
 * Time is counted in steps, each followed by a poll of the sockets: while this process's event loop stands still neither can a
 * command be sent nor a reply be read, so that a long standstill counts as one step and is not taken for an outage.
 */
function settle<Reply>(
  reply: Promise<Reply>,
  isOver: (waitedMs: number) => boolean,
  onReply?: () => void,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let waitedMs = 0;
    let isSettled = false;
    const step = () => setImmediate(judge);
    let timer = setTimeout(step, REDIS_STEP_MS);
    function judge(): void {
      if (isSettled) return;
      waitedMs += REDIS_STEP_MS;
      if (!isOver(waitedMs)) timer = setTimeout(step, REDIS_STEP_MS);
      else end(() => reject(new RedisFault('no answer in time', true)));
    }
    function end(conclude: () => void): void {
      isSettled = true;
      clearTimeout(timer);
      conclude();
    }
    reply.then(
      (value) => {
        onReply?.();
        end(() => resolve(value));
      },
      (error: unknown) => end(() => reject(asRedisFault(error))),
    );
  });
}
