// What clients ask for in a round, and how they behave when an answer gets lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { smallPng } from '../../../../src/vendors/fal/emulator/files.ts';
import type { Random } from '../random.ts';
import type { Customer, World } from '../world.ts';
import type { Upstreams } from './upstreams.ts';

const AGAIN_MS = 40;
const SENDINGS_MAX = 500;
const SENDINGS_AT_ONCE = 2;

/** What an order is to meet. */
export const FATES = [
  'pictures',
  'edit',
  'tasks',
  'singles',
  'clip',
  'refused and done elsewhere',
  'rejected',
  'failed',
  'accepted and reset',
  'answered with addresses',
  'answered with too many',
  'refused, then endless',
  'endless',
  'nobody there',
] as const;
export type Fate = (typeof FATES)[number];

export interface Order {
  readonly fate: Fate;
  readonly customer: Customer;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Unique to the order: it is found again by it wherever it got to. */
  readonly prompt: string;
  /** Without one, a lost answer stays lost. */
  readonly idempotencyKey: string | undefined;
  /** Sent twice at the same time, as an impatient client does. */
  readonly isDoubled: boolean;
}

/** What became of an order, as its client knows it. */
export interface Outcome {
  readonly order: Order;
  /** Every id that a 202 has told. */
  readonly jobIds: string[];
  sendings: number;
  /** Answers that say that there is no job and there will be none. */
  readonly refusals: string[];
}

const PICTURE = `data:image/png;base64,${smallPng(8).toString('base64')}`;

export function makeOrder(random: Random, fate: Fate, customer: Customer, name: string): Order {
  const n = random.pick([1, 3]);
  const prompt = `chaos ${name} ${fate}`;
  const order = { fate, customer, prompt, path: '/v1/images/generations' };
  const idempotencyKey = random.chance(0.6) ? `key ${name}` : undefined;
  const isDoubled = idempotencyKey !== undefined && random.chance(0.3);
  const picture = (model: string, fields = {}) => ({
    ...order,
    body: { model: `chaos/${model}`, prompt, n, ...fields },
    idempotencyKey,
    isDoubled,
  });
  switch (fate) {
    case 'pictures':
      return picture('photo');
    case 'edit':
      return { ...picture('photo', { images: [PICTURE] }), path: '/v1/images/edits' };
    case 'tasks':
      return picture('flux');
    case 'singles':
      return picture('single', { n: 3 });
    case 'clip':
      return { ...picture('clip', { n: undefined, seconds: 8 }), path: '/v1/videos' };
    case 'rejected':
    case 'accepted and reset':
    case 'refused and done elsewhere':
      return picture(random.pick(['bad-photo', 'bad-flux']));
    case 'answered with addresses':
    case 'answered with too many':
      return picture('bad-photo', { n: 3 });
    case 'failed':
      return picture('bad-flux');
    case 'refused, then endless':
      return picture('endless-flux');
    case 'endless':
      return random.chance(0.5)
        ? picture('endless-flux')
        : { ...picture('endless-clip', { n: undefined, seconds: 4 }), path: '/v1/videos' };
    case 'nobody there':
      return picture(`nowhere-${random.whole(0, 3)}`);
  }
}

/** Tells the upstreams how to treat what is about to come. Two orders at once may meet each other's fate. */
function arrange({ pictures, tasks }: Bad, random: Random, { fate, body }: Order): void {
  const isPhoto = body.model === 'chaos/bad-photo';
  switch (fate) {
    case 'refused and done elsewhere':
    case 'refused, then endless':
      if (isPhoto) pictures.script({ kind: 'error', error: random.pick(['throttled', 'broken', 'overloaded']) });
      else tasks.script('submit', { kind: 'error', error: random.pick(['throttled', 'broken', 'unscheduled']) });
      return;
    case 'rejected':
      if (isPhoto) pictures.script({ kind: 'error', error: random.pick(['invalid', 'policy']) });
      else tasks.script('submit', { kind: 'error', error: random.pick(['invalid', 'policy']) });
      return;
    case 'accepted and reset':
      if (isPhoto) pictures.script({ kind: 'fault', fault: 'reset when done' });
      else tasks.script('submit', { kind: 'fault', fault: 'reset after acceptance' });
      return;
    case 'failed':
      tasks.outcome({ kind: 'failure', error: random.pick(['policy', 'runnerBroken', 'noMedia']) });
      return;
    case 'answered with addresses':
      pictures.script({ kind: 'pictures', as: 'url' });
      return;
    case 'answered with too many':
      pictures.script({ kind: 'pictures', count: 5 });
      return;
    case 'pictures':
    case 'edit':
    case 'tasks':
    case 'singles':
    case 'clip':
    case 'endless':
    case 'nobody there':
      return;
  }
}

interface Bad {
  readonly pictures: Upstreams['badPictures'];
  readonly tasks: Upstreams['badTasks'];
}

/** Sends an order until it is answered for good. Without a key it is sent once: a second sending would be a second order. */
export async function placeOrder(world: World<Upstreams>, random: Random, order: Order): Promise<Outcome> {
  const { badPictures, badTasks } = world.upstreams;
  arrange({ pictures: badPictures, tasks: badTasks }, random, order);
  const outcome: Outcome = { order, jobIds: [], sendings: 0, refusals: [] };
  const sendings = order.isDoubled ? SENDINGS_AT_ONCE : 1;
  await Promise.all(Array.from({ length: sendings }, () => sendUntilTold(world, random, outcome)));
  return outcome;
}

/** The same order once more, long after. */
export async function sendUntilTold(world: World<Upstreams>, random: Random, outcome: Outcome): Promise<void> {
  const { customer, path, body, idempotencyKey } = outcome.order;
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  for (let sending = 0; sending < SENDINGS_MAX; sending++) {
    const { up } = world.gateways;
    if (up.length > 0) {
      outcome.sendings++;
      const answer = await world.call(random.pick(up), 'POST', path, { key: customer.key, body, headers });
      if (answer?.status === 202) {
        outcome.jobIds.push(answer.json.id);
        return;
      }
      const isOver = answer !== undefined && answer.status < 500 && answer.json.error?.code !== 'admission_in_progress';
      if (isOver) outcome.refusals.push(`${answer.status} ${answer.json.error?.code}`);
      if (isOver || idempotencyKey === undefined) return;
    }
    await sleep(AGAIN_MS);
  }
  outcome.refusals.push('never answered');
}
