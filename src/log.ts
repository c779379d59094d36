import { type Logger as PinoLogger, pino } from 'pino';

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
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const flush = () => destination.flushSync();
  setInterval(flush, FLUSH_EVERY_MS).unref();
  process.on('exit', flush);
  return { log, flush };
}
