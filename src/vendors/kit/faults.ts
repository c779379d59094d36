import { type Fault, UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import type { Failed } from '../vendor.ts';
import { isList, isObject, stringAt } from './json.ts';

const FAULTS = ['client', 'policy', 'unfit', 'rate', 'account', 'config', 'server', 'timeout', 'garbled'] as const;

/** How a vendor tells what went wrong. */
export interface FaultRules {
  /** The names that a body gives its error, from the most exact to the least. */
  readonly codesIn?: (body: JsonObject) => readonly (string | undefined)[];
  /** A header of a refusal that names its error: read as if it stood in the body under its own name. */
  readonly header?: string;
  readonly codes?: Readonly<Partial<Record<(typeof FAULTS)[number], readonly string[]>>>;
  /** By the `type` of an error inside a success, where no status speaks. */
  readonly types?: FaultRules['codes'];
  /** For names that appear without notice. */
  readonly patterns?: readonly (readonly [RegExp, Fault])[];
  /** Statuses that mean something else here than is usual. */
  readonly statuses?: Readonly<Record<number, Fault>>;
  /** What no table can say, such as an unpaid bill told as a bad request in words only. Comes first. There is no status inside a success. */
  readonly exception?: (body: JsonObject, status: number | undefined) => Fault | undefined;
  /** The error inside an answer with a status of success, for vendors that tell some so. */
  readonly errorIn?: (body: JsonObject) => JsonValue | undefined;
  /** How long to stay away, where the body says so; a header that says it comes first. */
  readonly retryAfterMs?: (body: JsonObject) => number | undefined;
}

/** Status and vendor code to fault, for refusals, for errors inside a success and for tasks that failed. */
export class FaultTable {
  readonly #rules: FaultRules;
  /** By the vendor's own codes. */
  readonly codes: ReadonlyMap<string, Fault>;
  readonly #types: ReadonlyMap<string, Fault>;

  constructor(rules: FaultRules) {
    this.#rules = rules;
    this.codes = byName(rules.codes);
    this.#types = byName(rules.types);
  }

  ofCode(code: string): Fault | undefined {
    return this.codes.get(code) ?? this.#rules.patterns?.find(([pattern]) => pattern.test(beginning(code)))?.[1];
  }

  /** By what the body says alone. */
  ofBody(whole: JsonObject, status?: number): Fault | undefined {
    const body = withBeginnings(whole);
    const exception = this.#rules.exception?.(body, status);
    if (exception !== undefined) return exception;
    for (const code of this.#rules.codesIn?.(body) ?? []) {
      const fault = code === undefined ? undefined : this.ofCode(code);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  ofRefusal(status: number, body: JsonObject | undefined): Fault {
    return (body && this.ofBody(body, status)) ?? this.#ofStatus(status) ?? (status >= 500 ? 'server' : 'garbled');
  }

  /** The error inside a success, if there is one. */
  errorIn(body: JsonObject): UpstreamError | undefined {
    const error = this.#rules.errorIn?.(body);
    return error === undefined ? undefined : this.toError(error, body);
  }

  /** An error told under a status of success. Its code may be the status that it would have had. */
  toError(error: JsonValue, body: JsonObject = { error }): UpstreamError {
    const fields = isObject(error) ? error : {};
    const ofType = this.#types.get(stringAt(fields, 'type') ?? '');
    const fault = this.ofBody(body) ?? this.#ofStatus(Number(fields.code)) ?? ofType ?? 'server';
    const detail = `an error inside a success: ${JSON.stringify(error)}`.slice(0, UPSTREAM_ERROR_BYTES_MAX);
    return new UpstreamError(fault, detail, { retryAfterMs: this.retryAfterMs(body), isUncertain: false });
  }

  throwIfError(body: JsonObject): void {
    const error = this.errorIn(body);
    if (error !== undefined) throw error;
  }

  retryAfterMs(body: JsonObject): number | undefined {
    return this.#rules.retryAfterMs?.(body);
  }

  #ofStatus(status: number): Fault | undefined {
    return this.#rules.statuses?.[status] ?? USUAL_STATUSES.get(status);
  }
}

/**
 * Of a text, what is read of it: an error is told at its beginning, and some patterns take quadratic time. An error inside
 * a success may be as long as any answer.
 */
function beginning(text: string): string {
  return text.slice(0, UPSTREAM_ERROR_BYTES_MAX);
}

function withBeginnings(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, beginningsIn(value)]));
}

function beginningsIn(value: JsonValue): JsonValue {
  if (typeof value === 'string') return beginning(value);
  if (isList(value)) return value.map(beginningsIn);
  return isObject(value) ? withBeginnings(value) : value;
}

function byName(names: FaultRules['codes']): ReadonlyMap<string, Fault> {
  return new Map(FAULTS.flatMap((fault) => (names?.[fault] ?? []).map((name) => [name, fault] as const)));
}

/** A limit on size or format (413, 415) is the upstream's own: another may have another. A conflict passes by itself. */
const USUAL_STATUSES: ReadonlyMap<number, Fault> = new Map<number, Fault>([
  ...[400, 422].map((status) => [status, 'client'] as const),
  ...[413, 415].map((status) => [status, 'unfit'] as const),
  ...[401, 402, 403].map((status) => [status, 'account'] as const),
  [404, 'config'],
  [408, 'timeout'],
  ...[409, 425, 499].map((status) => [status, 'server'] as const),
  [429, 'rate'],
]);

const FAILED_CODES: Partial<Record<Fault, Failed['code']>> = {
  client: 'upstream_rejected',
  policy: 'content_rejected',
};

/** A task that failed, by its fault. */
export function failed(fault: Fault, detail: string): Failed {
  const code = FAILED_CODES[fault] ?? 'upstream_failed';
  return { state: 'failed', code, detail: detail.slice(0, UPSTREAM_ERROR_BYTES_MAX) };
}
