import type { Endpoint } from '../configuration/index.ts';
import { ApiError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { quoted } from '../quoted.ts';
import type { ListedModel, Snapshot } from './snapshot.ts';

/** Where each of them is, as a caller is told. */
export const ENDPOINT_PATHS: Readonly<Record<Endpoint, string>> = {
  images: '/v1/images/generations',
  image_edits: '/v1/images/edits',
  videos: '/v1/videos',
  chat: '/v1/chat/completions',
  native: '/v1beta/models/{model}:generateContent',
  audio_speech: '/v1/audio/speech',
  transcriptions: '/v1/audio/transcriptions',
  audio_music: '/v1/audio/music',
  embeddings: '/v1/embeddings',
};

/**
 * The model by this name, if these groups reach it and it serves the endpoint, where one is asked for. Throws
 * `model_not_found`: alike for a model that does not exist and one that is out of reach, since all that is told is made
 * of what is in reach.
 */
export function requireModel(
  snapshot: Snapshot,
  groups: readonly string[],
  id: string,
  endpoint?: Endpoint,
): ListedModel {
  const model = snapshot.find(id, groups);
  if (model !== undefined && (endpoint === undefined || model.endpoints.includes(endpoint))) return model;
  const message =
    model === undefined || endpoint === undefined
      ? `There is no model ${quoted(id)} for this key. ${whatThereIs(snapshot, groups, id, endpoint)}`
      : `The model ${quoted(id)} is not served at ${placeOf(endpoint)}. It is at ${model.endpoints.map(placeOf).join(' and ')}.`;
  throw new ApiError('model_not_found', { message, param: 'model' });
}

function placeOf(endpoint: Endpoint): string {
  return `POST ${ENDPOINT_PATHS[endpoint]}`;
}

function whatThereIs(snapshot: Snapshot, groups: readonly string[], id: string, endpoint?: Endpoint): string {
  const inReach = snapshot.reachableFrom(groups);
  const models = endpoint === undefined ? inReach : inReach.filter((model) => model.endpoints.includes(endpoint));
  const ids = models.map((model) => model.id);
  const name = lastPart(id);
  const suggestion = ids.find((each) => lastPart(each) === name) ?? nearest(id, ids);
  const hint = suggestion === undefined ? LISTED : `Did you mean ${quoted(suggestion)}?`;
  return CLIENTS_OWN.test(id) ? `${hint} ${CLIENT_SETTINGS}` : hint;
}

const LISTED = 'GET /v1/models lists those that there are.';
/** Names that clients send unless they are told another, often for titles and other work in the background. */
const CLIENTS_OWN = /^(claude|gpt|chatgpt|gem[a-z]+|codex|o\d)\b/i;
const CLIENT_SETTINGS =
  'If your client chose this name by itself, set its model, and its small or background model, to one of these.';

/** Names often come without their maker, or with another. Of a name of megabytes only the end is read. */
function lastPart(id: string): string {
  const end = id.slice(-NAME_CHARS_MAX);
  return end.slice(end.lastIndexOf('/') + 1).toLowerCase();
}

/** More than any model's name has. */
const NAME_CHARS_MAX = 1_000;
