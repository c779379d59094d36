// What must be true of speech and transcriptions once everything has come to rest, whatever was killed when.

import { faultsOfBooks, faultsOfPayment, type ObjectRow } from '../books.ts';
import { type Evidence, type ReadRecord, type RecordRow, type Told, toldId } from './evidence.ts';
import { isGood, type Order } from './load.ts';
import { soundNamed } from './sounds.ts';
import { faultsOfSpeech } from './speech-check.ts';
import { CREDITS_PER_SECOND, ENDLESS_MODEL, textHeard } from './upstreams.ts';

/** Each finding is a sentence; without any, the rule holds. */
type Rule = (evidence: Evidence) => readonly string[];

const MICRO = 1_000_000;
const HOUR_MS = 60 * 60 * 1000;
const KEPT_MS = 30 * 24 * HOUR_MS;

const NEXT_STATUS: Readonly<Record<string, readonly string[]>> = {
  none: ['pending'],
  pending: ['pending', 'processing'],
  processing: ['processing', 'completed', 'failed', 'unavailable'],
  completed: ['expired'],
};
const NEXT_SETTLEMENT: Readonly<Record<string, readonly string[]>> = {
  none: ['pending'],
  pending: ['pending', 'settled', 'released', 'unknown'],
  unknown: ['unknown', 'settled', 'released'],
  settled: ['settled'],
};
const ERRORS: Readonly<Record<string, readonly string[]>> = {
  failed: ['upstream_rejected', 'content_rejected', 'upstream_failed', 'empty_transcription_response'],
  unavailable: ['upstream_failed', 'request_timeout', 'shutting_down'],
};
/** What is told of work that may go on. */
const UNDECIDED = ['request_timeout', 'database_unavailable', 'shutting_down'];

const RULES: Readonly<Record<string, Rule>> = {
  'nothing that was told is lost': (evidence) =>
    evidence.outcomes.flatMap((outcome) => {
      const id = toldId(outcome);
      const record = evidence.records.find((row) => row.id === id);
      return id === undefined || isOf(record, outcome.order)
        ? []
        : [`${id} was told for ${outcome.order.name} and is not its record`];
    }),

  'a request is one record at most': ({ records, outcomes }) =>
    records.flatMap((record) => {
      const orders = outcomes.filter(({ order }) => order.kind === 'transcription' && isOf(record, order));
      const same = records.filter((other) => other !== record && orders[0] && isOf(other, orders[0].order));
      return orders.length === 1 && same.length === 0
        ? []
        : [`${record.id} has ${orders.length} orders, ${same.length} twins`];
    }),

  'nothing stays open': ({ records, holds }) => [
    ...records.filter(isOpen).map(({ id, status }) => `${id} is ${status}`),
    ...holds.filter((hold) => hold.isOpen).map(({ id, requestId }) => `reservation ${id} of ${requestId} is open`),
  ],

  'only allowed steps are taken, and a task stays': ({ changes }) =>
    changes.flatMap((change) => {
      const { id, statusBefore, status, settlementBefore, settlement, taskBefore, task } = change;
      const isAllowed =
        NEXT_STATUS[statusBefore ?? 'none']?.includes(status) === true &&
        NEXT_SETTLEMENT[settlementBefore ?? 'none']?.includes(settlement) === true &&
        (taskBefore === null || taskBefore === task);
      return isAllowed
        ? []
        : [`${id} went from ${statusBefore} ${settlementBefore} ${taskBefore} to ${status} ${settlement} ${task}`];
    }),

  'nothing is submitted twice or unwritten': ({ submissions, outcomes, records, holds }) => {
    const orders = new Map(outcomes.map(({ order }) => [order.name, order]));
    const known = (name: string) => {
      const order = orders.get(name);
      if (order?.kind === 'speech') return holds.some(({ requestId }) => requestId === name);
      return order !== undefined && records.some((record) => isOf(record, order));
    };
    const times = Map.groupBy(submissions, ({ upstream, name }) => `${upstream} for ${name}`);
    return [
      ...[...times].filter(([, all]) => all.length > 1).map(([place, all]) => `${all.length} submissions to ${place}`),
      ...submissions.filter(({ name }) => !known(name)).map(({ name }) => `${name} was submitted and nothing says so`),
    ];
  },

  'a task that was saved comes to its end': ({ records, submissions, outcomes }) =>
    records
      .filter(({ task }) => task !== null)
      .flatMap((record) => {
        const own = submissions.filter(({ task }) => task !== undefined && record.task?.includes(task) === true);
        const outcome = outcomes.find(({ order }) => isOf(record, order));
        const order = outcome?.order;
        if (own.length !== 1 || own[0]?.name !== order?.name || own[0]?.upstream !== record.upstream)
          return [`${record.id} has the task ${record.task}, which is not its own`];
        return isFollowed(record, outcome)
          ? []
          : [`${record.id} has a task and is ${record.status} ${record.errorCode}`];
      }),

  'a transcript is what an upstream gave': ({ records, submissions, outcomes }) =>
    records
      .filter(({ status }) => status === 'completed')
      .flatMap((record) => {
        const { id, text, upstream } = record;
        const name = outcomes.find(({ order }) => isOf(record, order))?.order.name ?? '';
        const isGiven = submissions.some((done) => done.upstream === upstream && done.name === name);
        return isGiven && text === textHeard(upstream ?? '', name) ? [] : [`${id} says "${text}" by ${upstream}`];
      }),

  'each state has its marks': ({ records, now }) =>
    records.flatMap((record) => (isMarked(record, now) ? [] : [`${record.id}: ${marksOf(record)}`])),

  'each transcription is paid once and rightly': ({ records, entries }) =>
    records.flatMap((record) => {
      const { id, reservationId, seconds, charged } = record;
      const cost = isDone(record) ? BigInt(seconds * CREDITS_PER_SECOND * MICRO) : undefined;
      const own = entries.filter((entry) => entry.reservationId === reservationId);
      const told = charged === (cost ?? 0n) ? [] : [`${id} is worth ${cost ?? 0n} and is told as ${charged}`];
      return [...faultsOfPayment(id, own, cost), ...told];
    }),

  'speech is charged as it was delivered': faultsOfSpeech,

  'no reservation is without its request': ({ holds, records, outcomes }) => {
    const known = new Set(records.map(({ reservationId }) => reservationId));
    const spoken = new Set(outcomes.filter(({ order }) => order.kind === 'speech').map(({ order }) => order.name));
    return holds
      .filter(({ id, endpoint, requestId }) => (endpoint === 'audio_speech' ? !spoken.has(requestId) : !known.has(id)))
      .map(({ id, endpoint, requestId }) => `reservation ${id} is for ${endpoint} ${requestId}, which is not there`);
  },

  'an answer says what was saved': ({ outcomes, records }) =>
    outcomes
      .filter(({ order, status }) => order.kind === 'transcription' && status !== undefined)
      .flatMap((outcome) => {
        const record = records.find(({ id }) => id === toldId(outcome));
        const marks = record === undefined ? 'nowhere' : marksOf(record);
        return isAnswered(outcome, record) ? [] : [`${marks}, and ${toldBy(outcome)} was told`];
      }),

  'whoever asks again reads the same': ({ reads, records }) =>
    reads.flatMap((read) => {
      const record = records.find(({ id }) => id === read.id);
      return record === undefined || isRead(read, record)
        ? []
        : [`${read.id} is ${marksOf(record)}, and is read as ${read.httpStatus} ${read.status} "${read.text}"`];
    }),

  'clients are refused nothing that they may have': ({ outcomes }) =>
    outcomes
      .filter(
        ({ order, status, isDisturbed }) => isGood(order) && !isDisturbed && status !== undefined && status !== 200,
      )
      .map((outcome) => `${outcome.order.name}, to be ${outcome.order.fate}, was told ${toldBy(outcome)}`),

  'the books follow from the entries': faultsOfBooks,

  'inputs go, and the speech behind a link stays': (evidence) => {
    const { objects, files, records, outcomes, now } = evidence;
    const inputs = new Set(records.map(({ inputKey }) => inputKey));
    return [
      ...objects.filter(({ deleteAt }) => deleteAt <= now).map(({ key }) => `${key} should have gone`),
      ...[...files.keys()].filter((key) => !objects.some((row) => row.key === key)).map((key) => `nobody knows ${key}`),
      ...[...new Set([...files.keys(), ...objects.map(({ key }) => key)])]
        .filter((key) => inputs.has(key))
        .map((key) => `${key} is the input of an ended record`),
      ...objects
        .filter(({ key, deleteAt }) => key.startsWith('inputs/') && deleteAt.getTime() > now.getTime() + HOUR_MS)
        .map(({ key }) => `${key} is nobody's input and stays for long`),
      ...outcomes.flatMap((outcome) => faultsOfLink(outcome, evidence)),
    ];
  },

  'the program has no fault to report': ({ complaints }) => complaints,
};

/** The rules that do not hold, each with what it found. */
export function findViolations(evidence: Evidence): readonly string[] {
  return Object.entries(RULES).flatMap(([name, rule]) => rule(evidence).map((finding) => `${name}: ${finding}`));
}

function isOf(record: RecordRow | undefined, { kind, customer, temperature, model, seconds }: Order): boolean {
  if (record === undefined || kind !== 'transcription') return false;
  const isSame = record.accountId === customer.accountId && record.temperature === temperature;
  return isSame && record.model === model && record.seconds === seconds;
}

function isOpen({ status }: RecordRow): boolean {
  return status === 'pending' || status === 'processing';
}

function isDone({ status }: RecordRow): boolean {
  return status === 'completed' || status === 'expired';
}

/** An upstream that ends its tasks has ended this one, and so has the record. */
function isFollowed(record: RecordRow, outcome: Told | undefined): boolean {
  const order = outcome?.order;
  const isBad = record.upstream === 'bad-tasks';
  if (isBad && order?.manner === 'failed') return record.errorCode === 'upstream_failed';
  if (isBad && order?.manner === 'nothing heard') return record.errorCode === 'empty_transcription_response';
  const { model, completedAt, createdAt, errorCode } = record;
  const isLate = errorCode === 'request_timeout' && (completedAt?.getTime() ?? 0) - createdAt.getTime() >= HOUR_MS;
  if (model === ENDLESS_MODEL) return isLate;
  return isDone(record) || (isLate && outcome?.isJumped === true);
}

function isMarked(record: RecordRow, now: Date): boolean {
  const { status, settlementState, errorCode, charged, text, createdAt, completedAt, expiresAt } = record;
  if (completedAt === null || completedAt < createdAt || expiresAt === null) return false;
  if (expiresAt.getTime() !== createdAt.getTime() + KEPT_MS) return false;
  switch (status) {
    case 'completed':
      return settlementState === 'settled' && charged !== 0n && text !== null && errorCode === null && expiresAt > now;
    case 'expired':
      return settlementState === 'settled' && charged !== 0n && text === null && errorCode === null && expiresAt <= now;
    case 'failed':
    case 'unavailable':
      return (
        settlementState === 'released' &&
        charged === 0n &&
        text === null &&
        ERRORS[status]?.includes(errorCode ?? '') === true
      );
    default:
      return false;
  }
}

function marksOf({ status, settlementState, errorCode, charged, text, completedAt }: RecordRow): string {
  return `${status}, ${settlementState}, ${errorCode}, charged ${charged}, "${text}", ${completedAt?.toISOString()}`;
}

function toldBy({ status, bytes }: Told): string {
  return `${status} ${bytes.toString()}`;
}

/** What was told of a record fits what it is, also if its transcript has gone since. */
function isAnswered({ order, status, headers, bytes, isWhole }: Told, record: RecordRow | undefined): boolean {
  if (status === 200) {
    // It was saved before the first byte was sent.
    if (record === undefined || !isDone(record)) return false;
    if (!isWhole) return true;
    const json = order.format === 'text' ? undefined : JSON.parse(bytes.toString());
    const text: unknown = json === undefined ? bytes.toString() : json.text;
    const credits = Number(json === undefined ? headers['x-credits-charged'] : json.usage.credits);
    const isSame = record.status === 'expired' || record.text === text;
    return isSame && BigInt(Math.round(credits * MICRO)) === record.charged;
  }
  if (record === undefined || !isWhole) return true;
  const code: unknown = JSON.parse(bytes.toString()).error.code;
  if (UNDECIDED.includes(String(code)) && headers['x-should-retry'] === 'false') return true;
  return !isDone(record) && code === record.errorCode;
}

function isRead({ httpStatus, status, text, credits }: ReadRecord, record: RecordRow): boolean {
  if (status !== record.status || httpStatus !== (record.status === 'expired' ? 410 : 200)) return false;
  if (record.status !== 'completed') return text === undefined && credits === undefined;
  return text === record.text && BigInt(Math.round((credits ?? 0) * MICRO)) === record.charged;
}

/** What a link was told for lies there whole; a refused call has left nothing. Where the answer got lost it may. */
function faultsOfLink(
  { order, status, isWhole, isDisturbed, bytes }: Told,
  { objects, files, now }: Pick<Evidence, 'objects' | 'files' | 'now'>,
): string[] {
  if (order.kind !== 'speech' || order.by !== 'link') return [];
  const own = objects.filter(({ key }) => key.startsWith('speech/') && files.get(key)?.name === order.name);
  if (own.length > 1) return [`${order.name} lies there ${own.length} times`];
  if (status !== undefined && status !== 200) {
    return own.length > 0 && !isDisturbed ? [`${order.name} was refused, and lies there`] : [];
  }
  if (status === undefined || !isWhole) return [];
  const { url, b64_json, created } = JSON.parse(bytes.toString()) as SpeechAnswer;
  const isKept = now.getTime() < created * 1000 + KEPT_MS;
  if (url === undefined) return isDisturbed && isInline(order, b64_json) ? [] : [`${order.name} was told no link`];
  return isKept && !isLying(own[0], order, files) ? [`${order.name} does not lie where its link leads`] : [];
}

interface SpeechAnswer {
  readonly url?: string;
  readonly b64_json?: string;
  readonly created: number;
}

/** Without a store the sound itself is sent. */
function isInline({ name, seconds }: Order, base64 = ''): boolean {
  return soundNamed(name, seconds).equals(Buffer.from(base64, 'base64'));
}

function isLying(row: ObjectRow | undefined, { name, seconds }: Order, files: Evidence['files']): boolean {
  const { length } = soundNamed(name, seconds);
  return row !== undefined && row.bytes === BigInt(length) && files.get(row.key)?.bytes === length;
}
