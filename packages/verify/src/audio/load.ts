// What clients ask for in a round of chaos for sound, and all that they are told.
import { FormData, request } from 'undici';
import type { Random } from '../random.ts';
import type { Customer, World } from '../world.ts';
import { soundNamed, textNamed } from './sounds.ts';
import { ENDLESS_MODEL, type Manner, type Upstreams } from './upstreams.ts';

const ANSWER_MS_MAX = 60_000;
/** Leaves after this long, if it leaves. */
const PATIENCE_MS_MAX = 300;

/** What an order is to meet. */
export const FATES = [
  'heard',
  'heard at length',
  'task',
  'task at length',
  'held',
  'task held',
  'asking held',
  'refused and heard elsewhere',
  'rejected',
  'accepted and reset',
  'nothing heard',
  'failed',
  'endless',
  'nobody there',
  'spoken',
  'spoken by link',
  'speech held',
  'speech broken off',
  'refused and spoken elsewhere',
] as const;
export type Fate = (typeof FATES)[number];

const BAD: readonly Fate[] = [
  'rejected',
  'accepted and reset',
  'nothing heard',
  'failed',
  'endless',
  'nobody there',
  'speech broken off',
];
/** Everything goes well with these, unless a process is hit. */
export const GOOD: readonly Fate[] = FATES.filter((fate) => !BAD.includes(fate));

export function isGood({ fate }: Order): boolean {
  return GOOD.includes(fate);
}

export interface Order {
  readonly fate: Fate;
  readonly customer: Customer;
  /** Unique to the order: it is found again by it wherever its sound got to. */
  readonly name: string;
  readonly kind: 'transcription' | 'speech';
  readonly model: string;
  readonly manner: Manner;
  /** Of the sound that is sent or made. */
  readonly seconds: number;
  /** Unique among the customer's: a record keeps it. */
  readonly temperature: number;
  /** How the sound is sent, or how it is wanted. */
  readonly by: 'file' | 'address' | 'stream' | 'link';
  readonly format: 'json' | 'text' | 'verbose_json';
  /** Sent to the one that is to be hit. */
  readonly isAimed: boolean;
  /** The client leaves after this long. */
  readonly patienceMs: number | undefined;
}

/** What became of an order, as its client knows it. Every order is sent once: a second sending would be a second order. */
export interface Outcome {
  readonly order: Order;
  /** Undefined: its outcome is unknown. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** As much as has come. */
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  /** Behind the last byte. */
  readonly trailers: Readonly<Record<string, string>>;
}

const EITHER = ['chaos/tasks-or-ear', 'chaos/ear-or-tasks'];
/** Too long to be held in memory. */
const LONG_SECONDS = 140;
const VOICES = ['chaos/voice-by-character', 'chaos/voice-by-second'];

/** What of an order is not left to chance. */
export interface Wish extends Pick<Order, 'fate' | 'isAimed' | 'customer' | 'name'> {
  readonly number: number;
}

export function makeOrder(random: Random, { number, ...wish }: Wish): Order {
  const [seconds, temperature] = [random.pick([1, 1.5, 2]), number / 1000];
  const patienceMs = random.chance(0.1) ? random.whole(0, PATIENCE_MS_MAX) : undefined;
  const format = random.pick(['json', 'json', 'text', 'verbose_json'] as const);
  const order = { ...wish, seconds, temperature, format, patienceMs };
  const [sent, wanted] = [random.pick(['file', 'file', 'address'] as const), random.pick(['stream', 'link'] as const)];
  const heard = (model: string, manner: Manner = 'well'): Order => ({
    ...order,
    kind: 'transcription',
    model,
    manner,
    by: sent,
  });
  const spoken = (model: string, manner: Manner, by: 'stream' | 'link'): Order => ({
    ...order,
    kind: 'speech',
    model,
    manner,
    by,
  });
  switch (wish.fate) {
    case 'heard':
      return heard('chaos/ear');
    case 'heard at length':
      return { ...heard('chaos/ear'), seconds: LONG_SECONDS };
    case 'task':
      return heard('chaos/tasks');
    case 'task at length':
      return { ...heard('chaos/tasks'), seconds: LONG_SECONDS };
    case 'held':
      return heard('chaos/ear', 'held');
    case 'task held':
      return heard('chaos/tasks', 'held');
    case 'asking held':
      return heard('chaos/tasks', 'asking held');
    case 'refused and heard elsewhere':
      return heard(random.pick(EITHER), 'refused');
    case 'rejected':
    case 'accepted and reset':
    case 'nothing heard':
      return heard(random.pick(EITHER), wish.fate);
    case 'failed':
      return heard('chaos/tasks-or-ear', 'failed');
    case 'endless':
      return heard(ENDLESS_MODEL);
    case 'nobody there':
      return heard(`chaos/nowhere-${random.whole(0, 3)}`);
    case 'spoken':
      return spoken(random.pick(VOICES), 'well', 'stream');
    case 'spoken by link':
      return spoken(random.pick(VOICES), 'well', 'link');
    case 'speech held':
      return spoken(random.pick(VOICES), 'held', 'stream');
    case 'speech broken off':
      return spoken('chaos/bad-voice', 'broken off', wanted);
    case 'refused and spoken elsewhere':
      return spoken('chaos/bad-voice', random.pick(['refused', 'accepted and reset']), wanted);
  }
}

/** Sends an order once and takes whatever comes. */
export async function placeOrder(world: World<Upstreams>, random: Random, order: Order): Promise<Outcome> {
  world.upstreams.arrange(order.name, order.manner, order.seconds);
  const { up } = world.gateways;
  const nothing: Outcome = {
    order,
    status: undefined,
    headers: {},
    bytes: Buffer.alloc(0),
    isWhole: false,
    trailers: {},
  };
  const gateway = order.isAimed || up.length === 0 ? up[0] : random.pick(up);
  if (gateway === undefined) return nothing;
  const { path, body, headers } = sendingOf(world.upstreams, order);
  const pieces: Buffer[] = [];
  let outcome = nothing;
  try {
    const answer = await request(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${order.customer.key}`, ...headers },
      body,
      dispatcher: world.agent,
      headersTimeout: ANSWER_MS_MAX,
      bodyTimeout: ANSWER_MS_MAX,
      ...(order.patienceMs !== undefined && { signal: AbortSignal.timeout(order.patienceMs) }),
    });
    outcome = { ...nothing, status: answer.statusCode, headers: flat(answer.headers) };
    for await (const piece of answer.body) pieces.push(piece);
    return { ...outcome, bytes: Buffer.concat(pieces), isWhole: true, trailers: flat(answer.trailers) };
  } catch {
    return { ...outcome, bytes: Buffer.concat(pieces) };
  }
}

function sendingOf(upstreams: Upstreams, { kind, name, model, by, format, seconds, temperature }: Order) {
  if (kind === 'speech') {
    const wanted = { voice: 'alloy', response_format: 'wav', output: by === 'link' ? 'url' : 'binary' };
    const body = JSON.stringify({ model, input: textNamed(name), ...wanted });
    // Its reservation is found by it again.
    return { path: '/v1/audio/speech', body, headers: { ...JSON_TYPE, 'x-request-id': name } };
  }
  const path = '/v1/audio/transcriptions';
  if (by === 'address') {
    const body = { model, response_format: format, temperature, url: upstreams.addressOf(name) };
    return { path, body: JSON.stringify(body), headers: JSON_TYPE };
  }
  const form = new FormData();
  for (const [field, value] of Object.entries({ model, response_format: format, temperature })) {
    form.append(field, String(value));
  }
  form.append('file', new File([new Uint8Array(soundNamed(name, seconds))], 'a.wav', { type: 'audio/wav' }));
  return { path, body: form, headers: {} };
}

const JSON_TYPE = { 'content-type': 'application/json' };

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
