/** The only role and database that the embedded server is born with. */
export const SUPERUSER = 'postgres';
export const DATABASE = 'postgres';
/** Names the socket file; nothing listens on TCP. */
export const PORT = 5432;

// Waits and bounds.
export const CONNECT_TIMEOUT_MS = 2_000;
export const POLL_FIRST_MS = 15;
export const POLL_MAX_MS = 250;
/** A server that is there but says nothing for this long is replaced. */
export const SILENCE_MS_MAX = 20_000;
/** Crash recovery reads the log again; with max_wal_size as below it takes seconds, on a bad disk minutes. */
export const RECOVERY_MS_MAX = 600_000;
export const PROGRESS_EVERY_MS = 5_000;
export const INITDB_MS_MAX = 180_000;
export const TRIAL_MS_MAX = 10_000;
export const ORPHANS_MS_MAX = 3_000;
export const FAST_STOP_MS_MAX = 20_000;
export const IMMEDIATE_STOP_MS_MAX = 5_000;
/** The waits between the attempts of one start: most failures right after a crash cure themselves. */
export const ATTEMPT_DELAYS_MS: readonly number[] = [100, 300, 1_000];
export const RESTART_DELAY_FIRST_MS = 100;
export const RESTART_DELAY_MS_MAX = 10_000;
/** A server that lived this long has earned a fresh start of the back-off. */
export const HEALTHY_AFTER_MS = 30_000;
export const LOG_BYTES_MAX = 8 * 1024 * 1024;
export const LOG_CHECK_EVERY_MS = 60_000;
export const CLAIM_MS_MAX = 2_000;
export const CLAIM_POLL_MS = 50;
export const OUTPUT_LINES_MAX = 20;
export const OUTPUT_BYTES_MAX = 16_384;
/** `sun_path` holds 108 bytes with its closing NUL. */
export const SOCKET_PATH_BYTES_MAX = 107;

/** Given on the command line, so that a new release's values reach clusters made by an old one. */
const SERVER_SETTINGS: readonly (readonly [name: string, value: string, why: string])[] = [
  ['listen_addresses', '', 'only the Unix socket, which only we can reach'],
  ['unix_socket_permissions', '0700', 'a second lock behind the folder of mode 0700'],
  ['max_connections', '60', "the gateway's pool, its listeners, and room for a person with psql"],
  ['shared_buffers', '128MB', 'the working set of ledger and keys; leaves a 1 GB machine to others'],
  ['fsync', 'on', 'money: a confirmed commit survives a power cut'],
  ['synchronous_commit', 'on', 'the same'],
  ['full_page_writes', 'on', 'the same, for pages torn by the cut'],
  ['min_wal_size', '128MB', 'so much is kept to be used again, because making a new file holds up every commit'],
  ['max_wal_size', '512MB', 'bounds both disk use and the time of crash recovery'],
  ['checkpoint_timeout', '10min', 'fewer full page images when little is written'],
  ['io_method', 'sync', 'three worker processes fewer; everything hot is in memory'],
  ['max_parallel_workers_per_gather', '0', 'short queries only; workers would take connections from callers'],
  ['jit', 'off', 'compiling costs more than any query here'],
  ['timezone', 'UTC', "not the machine's"],
  ['log_timezone', 'UTC', 'the same'],
  ['log_checkpoints', 'off', 'noise'],
  ['log_min_error_statement', 'panic', 'statements may hold what callers sent'],
  ['logging_collector', 'off', 'standard error is a file already'],
];

/** The server's arguments; later settings win, so `extra` overrides the table. */
export function serverArguments(cluster: string, socketFolder: string, extra: Readonly<Record<string, string>>) {
  const settings = [
    ...SERVER_SETTINGS.map(([name, value]) => `${name}=${value}`),
    `unix_socket_directories=${socketFolder}`,
    `port=${PORT}`,
    ...Object.entries(extra).map(([name, value]) => `${name}=${value}`),
  ];
  return ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])];
}
