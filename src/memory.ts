import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';

const MIB = 1024 * 1024;
/** After so much of a stream was passed on, its pieces are worth collecting. */
const STREAM_COLLECTED_BYTES = 8 * MIB;
/** So much more than after the last look is worth one when there is nothing else to do. */
const IDLE_COLLECTED_BYTES = 16 * MIB;
const LOOK_EVERY_MS = 1_000;
/** A look is calm if the processors worked no more than this share of the time since the last. */
const CALM_SHARE_MAX = 0.05;
/** After so many calm looks the rush is over. */
const CALM_LOOKS = 60;
/** What one that is not calm takes of them: on a busy machine a second of rest may look like work now and then. */
const BUSY_LOOK_COSTS = 20;

let streamedBytes = 0;

/** Whether the process has the V8 flags of `npm start`; without them, as in tests, nothing here has an effect. */
export function hasCollectorFlags(): boolean {
  return globalThis.gc !== undefined;
}

/**
 * Collects everything once the process has been idle for a minute, which gives memory back to the system. To be called
 * once, when the program starts. V8's own collection in pauses is off by flag (`--memory-reducer-gc-count=0`): it comes
 * after seconds and forgets compiled code, so that the next thousands of requests cost two or three times as much.
 * `npm run bench -- memory`: + 8 MiB with this, + 56 MiB without either, + 6 MiB with V8's own instead.
 */
export function collectWhenIdle(): void {
  const idle = new IdleDetector();
  let workedBefore = workedMs();
  let lookedMs = performance.now();
  let keptBytes = 0;
  const look = () => {
    const [worked, nowMs] = [workedMs(), performance.now()];
    idle.sample((worked - workedBefore) / (nowMs - lookedMs));
    [workedBefore, lookedMs] = [worked, nowMs];
    if (!idle.isIdle || usedBytes() < keptBytes + IDLE_COLLECTED_BYTES) return;
    // Thorough enough to give memory back; it also forgets compiled code, so it is not for pauses.
    globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
    keptBytes = usedBytes();
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

/** Processor time, since that of the clock also passes while others have the processors. */
function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Tells from samples of the processor's load whether the process has been idle for a minute. */
export class IdleDetector {
  #calm = 0;

  /** `share` is how much of the time since the last sample was work. */
  sample(share: number): void {
    const isCalm = share <= CALM_SHARE_MAX;
    this.#calm = isCalm ? Math.min(this.#calm + 1, CALM_LOOKS) : Math.max(this.#calm - BUSY_LOOK_COSTS, 0);
  }

  get isIdle(): boolean {
    return this.#calm === CALM_LOOKS;
  }
}

/** Without what is young, which comes and goes with every request. */
function usedBytes(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith('new_'));
  return old.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

/**
 * Counts bytes of streams, and runs a minor collection every 8 MiB. A large file makes garbage of nothing but buffers,
 * which the collector hardly sees: it would let 50 MiB of them lie.
 */
export function countStreamedBytes(bytes: number): void {
  streamedBytes += bytes;
  if (streamedBytes < STREAM_COLLECTED_BYTES) return;
  streamedBytes = 0;
  globalThis.gc?.({ type: 'minor' });
}
