import { type Logger as PinoLogger, pino } from 'pino';
import { systemClock } from './clock.ts';

export type Logger = PinoLogger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Lines wait for company up to this many characters, or until they are passed on: one system call then writes them all. */
const GATHERED_MAX = 8_192;
const PASS_EVERY_MS = 100;

export interface LogOutput {
  readonly log: Logger;
  /** Writes what is gathered; call it before the process ends. */
  flush(): void;
}

/** One JSON object per line on standard output. Bodies, prompts and credentials are never logged. */
export function createLog(level: LogLevel): LogOutput {
  const destination = pino.destination({ dest: 1, sync: true });
  // Gathered here, because the destination would copy all that it has with every line that is added.
  let gathered = '';
  const pass = () => {
    if (gathered !== '') destination.write(gathered);
    gathered = '';
  };
  const write = (line: string) => {
    gathered += line;
    if (gathered.length >= GATHERED_MAX) pass();
  };
  const flush = () => {
    pass();
    // Waits for the disk, which is for the end alone.
    destination.flushSync();
  };
  const log = pino({ level, base: null, timestamp }, { write });
  setInterval(pass, PASS_EVERY_MS).unref();
  process.on('exit', flush);
  return { log, flush };
}

let stampedSecond = 0;
let stamp = '';

/** Many lines share a second; its text is made once. A log tells real time, not the test clock's. */
function timestamp(): string {
  const nowMs = systemClock.nowMs();
  const second = Math.floor(nowMs / 1000);
  if (second !== stampedSecond) {
    stampedSecond = second;
    stamp = `,"time":"${new Date(second * 1000).toISOString().slice(0, -'000Z'.length)}`;
  }
  return `${stamp}${String(nowMs % 1000).padStart(3, '0')}Z"`;
}
