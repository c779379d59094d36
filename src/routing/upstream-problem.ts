import type { Snapshot } from '../catalogue/index.ts';
import { UpstreamError } from '../errors.ts';
import { redactError } from './redact.ts';

/** What an operator has to mend, in one word. */
export const PROBLEMS = [
  'bad_key',
  'no_money',
  'unknown_model',
  'unreachable',
  'tls',
  'clock',
  'busy',
  'timeout',
  'refused',
  'broken',
] as const;
export type Problem = (typeof PROBLEMS)[number];

/** In words, and what to do about it. Quotes nothing of what the upstream said. */
const PROBLEM_TEXTS: Readonly<Record<Problem, string>> = {
  bad_key:
    'The upstream refuses the credential. Check api_key, or credential: it may be wrong, revoked, or of another account, project or region.',
  no_money: 'The account at the upstream is out of money or quota. Top it up, or raise its limit, at the vendor.',
  unknown_model:
    'The upstream does not know this model, or the account may not use it. Check the name in the route; "tollgate upstream models" lists what it offers.',
  unreachable: 'Nothing can be reached at this address. Check base_url, DNS, a proxy and a firewall.',
  tls: 'TLS fails: the certificate is not one that this machine trusts for this name, or what answers there is no TLS. Check base_url; NODE_EXTRA_CA_CERTS names a certificate authority of your own.',
  clock:
    'The clocks of this machine and of the upstream differ: a certificate or a signature is refused for its time. Set the clock, by NTP.',
  busy: 'The upstream is reached and takes the credential, but refuses requests for their number. Try again later, or raise the limit at the vendor.',
  timeout:
    'The upstream is reached but does not answer in time. Try again; raise timeout_seconds if it is always so slow.',
  refused: 'The upstream is reached and takes the credential, but refuses this request. Its own words say why.',
  broken:
    'The upstream is reached but fails, or answers what cannot be understood. Check base_url and the status page of the vendor.',
};

/** What a call that an operator asked for met. */
export interface Failure {
  /** Of the HTTP answer; undefined when there was none. */
  readonly status: number | undefined;
  readonly fault: string;
  readonly problem: Problem;
  readonly message: string;
  /** The upstream's own words without secrets. */
  readonly detail: string;
}

const DETAIL_CHARS_MAX = 500;

/** Throws what is no failure of an upstream. What was given up here, for its time or because the operator left, is a timeout. */
export function failureOf(snapshot: Snapshot, error: unknown, signal: AbortSignal): Failure {
  const late = signal.aborted ? new UpstreamError('timeout', 'no answer in time', { cause: error }) : undefined;
  const failure = error instanceof UpstreamError ? error : late;
  if (failure === undefined) throw error;
  redactError(snapshot, failure);
  const { status, fault, message } = failure;
  const problem = upstreamProblem(failure);
  return { status, fault, problem, message: PROBLEM_TEXTS[problem], detail: message.slice(0, DETAIL_CHARS_MAX) };
}

const CLOCK_CODES = new Set(['CERT_NOT_YET_VALID', 'CRL_NOT_YET_VALID']);
const CLOCK_WORDS =
  /RequestTimeTooSkewed|request ?expired|signature (?:has )?(?:expired|not yet current)|clock ?skew|\bskewed\b|used too (?:early|late)|not yet valid|check your (?:iat|clock)|system clock/i;
const TLS_CODES =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|EPROTO)/;
const MONEY_WORDS =
  /insufficient|balance|billing|quota|credits?\b|payment|arrears|overdue|overdrawn|top.?up|exhausted|spending|out of (?:money|funds)/i;
const MODEL_WORDS =
  /\bmodel\b[^.]{0,80}(?:not (?:found|exist|supported|available)|unknown|no such|invalid)|(?:unknown|no such|invalid) model/i;

/** Which of them an error of an upstream is: by what the socket did, or else by the fault and the words of the refusal. */
export function upstreamProblem(error: UpstreamError): Problem {
  const { fault, message, status } = error;
  const code = codeOf(error);
  if (CLOCK_CODES.has(code) || (status !== undefined && CLOCK_WORDS.test(message))) return 'clock';
  if (TLS_CODES.test(code)) return 'tls';
  switch (fault) {
    case 'account':
      return status === 402 || MONEY_WORDS.test(message) ? 'no_money' : 'bad_key';
    case 'config':
      return 'unknown_model';
    case 'client':
    case 'unfit':
      return MODEL_WORDS.test(message) ? 'unknown_model' : 'refused';
    case 'policy':
      return 'refused';
    case 'rate':
      return 'busy';
    case 'connection':
      return 'unreachable';
    case 'timeout':
      return code === 'UND_ERR_CONNECT_TIMEOUT' ? 'unreachable' : 'timeout';
    case 'server':
    case 'garbled':
      return 'broken';
  }
}

/** Of the error that the socket threw, however deep it lies. */
function codeOf(error: Error): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const [first] = at instanceof AggregateError ? at.errors : [];
    const found: unknown = first instanceof Error ? first : at;
    if (found instanceof Error && 'code' in found && typeof found.code === 'string') return found.code;
  }
  return '';
}
