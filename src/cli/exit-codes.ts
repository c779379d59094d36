/** What the program ends with. docs/cli.md repeats this table for readers, and a test holds the two equal. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  credential: 3,
  credits: 4,
  notFound: 5,
  refused: 6,
  upstream: 7,
  timeout: 8,
  unreachable: 9,
  busy: 10,
  interrupted: 130,
  brokenPipe: 141,
} as const;

const BY_STATUS: Readonly<Record<number, number>> = {
  401: EXIT.credential,
  402: EXIT.credits,
  403: EXIT.credential,
  404: EXIT.notFound,
  408: EXIT.timeout,
  410: EXIT.notFound,
  425: EXIT.busy,
  429: EXIT.busy,
  502: EXIT.upstream,
  504: EXIT.timeout,
};

/** Codes that their status does not tell apart. */
const BY_CODE: Readonly<Record<string, number>> = {
  no_available_provider: EXIT.upstream,
  sign_up_closed: EXIT.refused,
};

/** The exit code for a gateway's refusal. */
export function exitCodeFor(status: number, code: string | undefined): number {
  const known = BY_CODE[code ?? ''] ?? BY_STATUS[status];
  if (known !== undefined) return known;
  return status >= 500 ? EXIT.unreachable : EXIT.refused;
}

const JOB_FAULTS: Readonly<Record<string, number>> = {
  queue_expired: EXIT.timeout,
  upstream_timeout: EXIT.timeout,
  upstream_rejected: EXIT.refused,
  content_rejected: EXIT.refused,
  internal_error: EXIT.failed,
};

/** The exit code for a job that ended without a result. */
export function exitCodeOfJob(errorCode: string | undefined): number {
  return JOB_FAULTS[errorCode ?? ''] ?? EXIT.upstream;
}
