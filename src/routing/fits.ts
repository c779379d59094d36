import type { ListedModel } from '../catalogue/index.ts';
import { ApiError } from '../errors.ts';
import { isOfTier, isSameShape } from '../media/index.ts';
import { publishedQuality } from '../quality.ts';
import { type ImageRequest, type MediaRequest, type SoundRequest, slots, type VideoRequest } from '../schemas/index.ts';
import { unsupported } from '../unsupported.ts';

export type Accepts = ListedModel['accepts'];
/** How a route narrows what its model takes. */
export type RouteAccepts = NonNullable<ListedModel['routes'][number]['accepts']>;

/** What can be asked of a model by one of its routes: what the route does not mention is as the model has it. */
export function narrowAccepts(model: Accepts, route: RouteAccepts): Accepts {
  return {
    ...model,
    ...route,
    resolutions: route.resolutions ?? model.resolutions,
    aspect_ratios: route.aspect_ratios ?? model.aspect_ratios,
    sizes: route.sizes ?? model.sizes,
    slots: route.slots ?? model.slots,
    voice_design: route.voice_design ?? model.voice_design,
  };
}

/**
 * The request in the model's own words, for the checks, the price and the upstream alike: what is charged is what is sent.
 * A model with a `quality_ratio` publishes its keys. Throws `unsupported_parameter` for a quality that is none of them.
 */
export function inPublishedWords<Request extends MediaRequest<unknown>>(
  { pricing: { quality_ratio } }: Pick<ListedModel, 'pricing'>,
  request: Request,
): Request {
  if (request.kind !== 'image' || request.quality === undefined || quality_ratio === undefined) return request;
  const published = Object.keys(quality_ratio);
  const quality = publishedQuality(request.quality, published);
  if (quality === undefined) throw unsupported('quality', { oneOf: [...new Set([...published, 'auto'])] });
  return { ...request, quality };
}

/**
 * Throws unless a model that accepts this can take the request: `unsupported_parameter`, naming the field and what the
 * model takes; `conflicting_parameters` for two fields that cannot both be met; `invalid_reference_audio` for a voice
 * sample too few or too many.
 */
export function checkFits(accepts: Accepts, request: MediaRequest<unknown>): void {
  switch (request.kind) {
    case 'image':
      checkImage(accepts, request);
      break;
    case 'video':
      checkVideo(accepts, request);
      break;
    case 'audio':
      checkSound(accepts, request);
      break;
  }
}

/** Whether a request for speech is one for previews of a voice that does not exist yet. */
export function asksForVoiceDesign(accepts: Accepts, request: SoundRequest<unknown>): boolean {
  const { voiceDescription, voice, referenceId } = request;
  return accepts.voice_design && voiceDescription !== undefined && voice === undefined && referenceId === undefined;
}

function checkImage(accepts: Accepts, request: ImageRequest<unknown>): void {
  checkMost('n', request.n, accepts.n_max);
  checkForm(accepts, request);
  if (accepts.formats !== undefined) checkListed('output_format', request.outputFormat, accepts.formats);
  checkSlots(accepts, request);
}

function checkVideo(accepts: Accepts, request: VideoRequest<unknown>): void {
  checkMost('seconds', request.seconds, accepts.seconds_max);
  checkForm(accepts, request);
  const { size, resolution } = request;
  if (size !== undefined && resolution !== undefined && isOfTier(size, resolution) === false) {
    throw contradiction('size', 'resolution');
  }
  checkSlots(accepts, request);
  // A model without a choice cannot be held to either of them.
  if (request.generateAudio !== undefined) checkSlot(accepts, 'generate_audio', 'generate_audio');
}

function checkSound(accepts: Accepts, request: SoundRequest<unknown>): void {
  checkMost('n', request.n, accepts.n_max);
  checkMost('duration_seconds', request.durationSeconds, accepts.seconds_max);
  if (accepts.formats !== undefined) checkListed('response_format', request.format, accepts.formats);
  if (accepts.voice_sample === 'required' && request.referenceAudio.length !== 1) {
    const message = 'This model needs exactly one voice sample, in "reference_audio" or "voice".';
    throw new ApiError('invalid_reference_audio', { message, param: 'reference_audio' });
  }
  const { input, prompt, lyrics } = request;
  const hasOnlyDescription = [input, prompt, lyrics].every((words) => words === undefined);
  if (hasOnlyDescription && !accepts.voice_design) throw unsupported('voice_description');
}

/** How large, and of what shape. */
function checkForm(accepts: Accepts, request: ImageRequest<unknown> | VideoRequest<unknown>): void {
  const { size, resolution, aspectRatio } = request;
  checkListed('size', size, accepts.sizes);
  checkListed('resolution', resolution, accepts.resolutions);
  checkListed('aspect_ratio', aspectRatio, accepts.aspect_ratios);
  if (size !== undefined && aspectRatio !== undefined && !isSameShape(size, aspectRatio)) {
    throw contradiction('size', 'aspect_ratio');
  }
}

function checkListed(field: string, value: string | undefined, accepted: readonly string[]): void {
  if (value === undefined || accepted.includes(value)) return;
  throw unsupported(field, { oneOf: accepted });
}

function checkMost(field: string, value: number | undefined, most = Number.POSITIVE_INFINITY): void {
  if (value !== undefined && value > most) throw unsupported(field, { atMost: most });
}

function checkSlots(accepts: Accepts, request: MediaRequest<unknown>): void {
  for (const { field, name } of slots.list(request)) checkSlot(accepts, field, name);
}

function checkSlot(accepts: Accepts, field: string, name: string): void {
  if (!accepts.slots.some((slot) => slot === name)) throw unsupported(field);
}

function contradiction(one: string, other: string): ApiError {
  const message = `"${one}" and "${other}" describe different shapes.`;
  return new ApiError('conflicting_parameters', { message, param: other });
}
