import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { parseObject, readBytes, readJson, send, type Upstream } from '../kit/http.ts';
import { toBody } from '../kit/inline-media.ts';
import { stringAt } from '../kit/json.ts';
import type { Fields } from '../kit/mapping.ts';
import type { Progress, TaskOrder, TaskWork } from '../vendor.ts';
import { failed, faultOf, faultOfName, type Told, verdictOf } from './faults.ts';
import { type Kind, resultOf } from './results.ts';

/** What differs between the kinds of work; the queue is one for all. */
export interface Modality<Request> {
  readonly kind: Kind;
  /** The vendor's names for what public fields decide and the price depends on. */
  readonly priced: readonly string[];
  /** Throws ApiError for what the model cannot take. */
  inputOf(request: Request, model: string): Fields;
  /** The field that asks for several results at once, and how many it can ask for. */
  countOf(model: string): { readonly field: string; readonly max: number } | undefined;
}

/** Waiting and running tasks are told with 202, those that are over with 200. */
const SUCCESSES: readonly number[] = [200, 202];
/** All that tells something of the task itself, and not of our key or our pace. */
const TELLING: readonly number[] = [...SUCCESSES, 400, 404, 410, 422, 499, 500, 502, 503, 504];

/** Submit once, ask after the status, collect the result. Nothing finds a task again whose submission got no answer. */
export function queued<Request extends { readonly extra: JsonObject }>(work: Modality<Request>): TaskWork<Request> {
  return {
    check(request, model) {
      const decided = { ...work.inputOf(request, model), [work.countOf(model)?.field ?? '']: 1 };
      // Passed on unread, it would escape the checks and the price.
      const unread = work.priced.find((name) => name in request.extra && !(name in decided));
      if (unread !== undefined) throw unsupported(unread);
    },

    perCall: (_request, model) => work.countOf(model)?.max ?? 1,

    async submit(request, order, upstream) {
      const counted = work.countOf(upstream.model);
      const count = counted === undefined ? {} : { [counted.field]: order.count };
      const body = toBody({ ...request.extra, ...work.inputOf(request, upstream.model), ...count });
      const headers = { ...headersOf(upstream), 'content-type': 'application/json', ...startHeader(order) };
      const call = { method: 'POST', path: `/${upstream.model}`, headers, body, accepts: SUCCESSES } as const;
      const answer = await readJson(await send(upstream, call, { faultOf }));
      const statusUrl = ownUrl(answer.status_url, upstream).href;
      const responseUrl = ownUrl(answer.response_url, upstream).href;
      return { state: 'accepted', task: { statusUrl, responseUrl } };
    },

    async poll(task, upstream) {
      const told = await ask(task.statusUrl, upstream);
      if (!SUCCESSES.includes(told.status)) return verdictOf(told, 'status');
      const status = stringAt(told.body, 'status');
      if (status === 'IN_QUEUE' || status === 'IN_PROGRESS') return { state: 'running' };
      if (status === 'COMPLETED') return outcomeOf(told.body ?? {}, () => collect(task, work.kind, upstream));
      throw new UpstreamError('garbled', `unknown status ${status}`);
    },
  };
}

/** A run that failed reads as completed too. What its status does not name, its result does. */
async function outcomeOf({ error, error_type: name }: JsonObject, result: () => Promise<Progress>): Promise<Progress> {
  const detail = JSON.stringify([name, error]);
  const fault = typeof name === 'string' ? faultOfName(name) : undefined;
  if (fault !== undefined) return failed(fault, detail);
  const found = await result();
  return (error || name) && found.state === 'succeeded' ? failed('server', detail) : found;
}

async function collect(task: JsonObject, kind: Kind, upstream: Upstream): Promise<Progress> {
  const told = await ask(task.responseUrl, upstream);
  if (!SUCCESSES.includes(told.status)) return verdictOf(told, 'result');
  if (told.body === undefined) throw new UpstreamError('garbled', 'the result is not a JSON object');
  return resultOf(told.body, kind);
}

async function ask(address: JsonValue | undefined, upstream: Upstream): Promise<Told> {
  const { origin, pathname, search } = ownUrl(address, upstream);
  const call = { method: 'GET', path: pathname + search, headers: headersOf(upstream), accepts: TELLING } as const;
  const reply = await send({ ...upstream, address: origin }, call, { faultOf });
  const body = parseObject((await readBytes(reply)).toString('utf8'));
  return { status: reply.status, headers: reply.headers, body };
}

function headersOf({ apiKey }: Upstream): Record<string, string> {
  return { accept: 'application/json', authorization: `Key ${apiKey}` };
}

/** The vendor wants more than a second, and a whole number is the least that it can mistake. */
function startHeader({ startWithinMs }: TaskOrder): Record<string, string> {
  return { 'x-fal-request-timeout': String(Math.max(2, Math.floor(startWithinMs / 1000))) };
}

const QUEUE_ORIGIN = 'https://queue.fal.run';
const VENDOR_ORIGINS: readonly string[] = [QUEUE_ORIGIN, 'https://fal.run', 'https://rest.fal.ai'];

/** An address out of an answer, which is given our key: so it must be the upstream's own. */
function ownUrl(address: JsonValue | undefined, upstream: Upstream): URL {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  const { origin } = new URL(upstream.address);
  const own = origin === QUEUE_ORIGIN ? VENDOR_ORIGINS : [origin];
  if (url === null || !own.includes(url.origin))
    throw new UpstreamError('garbled', 'an address that is not the upstream’s');
  return url;
}
