import { type Logger as PinoLogger, pino } from 'pino';
import { systemClock } from './clock.ts';

export type Logger = PinoLogger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Lines wait for company up to this many bytes, or until the next flush: one system call then writes them all. */
const BUFFER_BYTES = 8_192;
const FLUSH_EVERY_MS = 100;

export interface LogOutput {
  readonly log: Logger;
  /** Writes what is buffered; call it before the process ends. */
  flush(): void;
}

/** One JSON object per line on standard output. Nobody logs bodies, prompts or credentials. */
export function createLog(level: LogLevel): LogOutput {
  const destination = pino.destination({ dest: 1, sync: true, minLength: BUFFER_BYTES });
  const log = pino({ level, base: null, timestamp }, destination);
  const flush = () => destination.flushSync();
  setInterval(flush, FLUSH_EVERY_MS).unref();
  process.on('exit', flush);
  return { log, flush };
}

let stampedAtMs = 0;
let stamp = '';

/** Many lines share a millisecond; its text is made once. A log tells real time, not the test clock's. */
function timestamp(): string {
  const nowMs = systemClock.nowMs();
  if (nowMs !== stampedAtMs) {
    stampedAtMs = nowMs;
    stamp = `,"time":"${new Date(nowMs).toISOString()}"`;
  }
  return stamp;
}
