import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { outputAt } from '../kit/data-url.ts';
import { failed } from '../kit/faults.ts';
import { isList, isObject, itemsAt, stringAt } from '../kit/json.ts';
import type { Failed, Output, Succeeded } from '../vendor.ts';

/** Where the models of each kind put their files; the first that is there counts. */
const PLACES = {
  image: ['images', 'image'],
  video: ['video'],
  audio: ['audio', 'audio_file', 'audio_url'],
} as const;

export type Kind = keyof typeof PLACES;

/** The files of a result, in its order. */
export function resultOf(result: JsonObject | undefined, kind: Kind): Succeeded | Failed {
  if (result === undefined) throw new UpstreamError('garbled', 'the result is not a JSON object');
  const files = filesAt(result, PLACES[kind]);
  const isFlagged = itemsAt(result, 'has_nsfw_concepts');
  const clean = files.filter((_file, at) => isFlagged[at] !== true);
  // A picture that was flagged is delivered as a black one.
  if (clean.length === 0 && isFlagged.includes(true)) return failed('policy', 'every picture was flagged');
  const outputs = clean.flatMap(toOutput);
  if (outputs.length === 0) return failed('server', 'a result without files');
  const thumbnails = kind === 'video' ? filesAt(result, ['thumbnail']).flatMap(toOutput) : [];
  return { state: 'succeeded', outputs: [...outputs, ...thumbnails.map((file) => ({ ...file, isThumbnail: true }))] };
}

function filesAt(result: JsonObject, places: readonly string[]): readonly JsonValue[] {
  const found = places.map((place) => result[place]).find((value) => value !== undefined && value !== null);
  if (found === undefined) return [];
  return isList(found) ? found : [found];
}

function toOutput(file: JsonValue): Output[] {
  const url = isObject(file) ? stringAt(file, 'url') : undefined;
  return url === undefined || url === '' ? [] : [outputAt(url)];
}
