import type { JsonObject, JsonValue } from '../../json.ts';
import { outputAt } from '../kit/data-url.ts';
import { failed } from '../kit/faults.ts';
import type { Upstream } from '../kit/http.ts';
import { amountAt, isList, isObject, objectAt, stringAt } from '../kit/json.ts';
import type { Failed, Output, Succeeded } from '../vendor.ts';
import { faultOfRun } from './wire.ts';

/** The vendor's words for the state of a prediction. One that waits for a machine is accepted already. */
export const STATES = {
  starting: 'running',
  processing: 'running',
  succeeded: 'over',
  failed: 'over',
  canceled: 'over',
  aborted: 'over',
} as const;

/** Where models put their files whose output is an object; the first that is there counts. */
const PLACES = {
  image: ['images', 'image', 'output'],
  video: ['video', 'videos', 'output'],
  audio: ['audio', 'audio_out', 'output'],
} as const;

export type Kind = keyof typeof PLACES;

/** Of a prediction that is over: undefined where it went well. */
export function failureOf(prediction: JsonObject): Failed | undefined {
  const status = stringAt(prediction, 'status');
  if (status !== 'succeeded') {
    const error = stringAt(prediction, 'error') ?? '';
    return failed(faultOfRun(error), `${status}: ${error}`);
  }
  // An hour after its end a prediction is without its data.
  const isGone = prediction.data_removed === true || (prediction.output ?? null) === null;
  return isGone ? failed('server', 'the output was removed, or there was none') : undefined;
}

/** The files of a prediction that is over, in its order. */
export function resultOf(prediction: JsonObject, kind: Kind, upstream: Upstream): Succeeded | Failed {
  const failure = failureOf(prediction);
  if (failure !== undefined) return failure;
  const outputs = filesIn(prediction.output, kind).map((address) => toOutput(address, upstream));
  if (outputs.length === 0) return failed('server', 'a result without files');
  const seconds = amountAt(objectAt(prediction, 'metrics'), 'predict_time');
  return { state: 'succeeded', outputs, ...(seconds !== undefined && { usage: { seconds } }) };
}

/** An output is an address, a list of them, or an object that holds either. */
function filesIn(output: JsonValue | undefined, kind: Kind): string[] {
  if (typeof output === 'string') return /^(https?|data):/i.test(output) ? [output] : [];
  if (isList(output)) return output.flatMap((each) => filesIn(each, kind));
  if (output === undefined || !isObject(output)) return [];
  const address = stringAt(output, 'url');
  if (address !== undefined) return filesIn(address, kind);
  const place = PLACES[kind].find((name) => (output[name] ?? null) !== null);
  return place === undefined ? [] : filesIn(output[place], kind);
}

/** Files of the vendor's API itself lie behind the key; those of its host for results do not, and must not see it. */
function toOutput(address: string, upstream: Upstream): Output {
  const isOwn = address.startsWith(`${upstream.address}/`);
  return isOwn ? { path: address.slice(upstream.address.length) } : outputAt(address);
}
