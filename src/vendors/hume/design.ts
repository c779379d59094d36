import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { JsonWithBlobs } from '../kit/blobs.ts';
import { defined, objectsAt, stringAt } from '../kit/json.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseLength, refuseOutside } from '../kit/refusals.ts';
import type { Media, VoicePreview } from '../vendor.ts';
import { formatFor, refuseExtra, TEXT_CHARS_MAX } from './fields.ts';

const FIELDS = ['voiceDescription', 'input', 'format', 'sampleRate', 'speed'] as const;
const DESCRIPTION_CHARS_MAX = 1000;
const PREVIEWS_MAX = 5;
/** The only version that makes voices. */
const DESIGN_VERSION = '1';

export function isDesigner(model: string): boolean {
  return model === 'voice-design';
}

/** Throws ApiError for what cannot be asked of a voice that is to be made, and without a text: the vendor makes none up. */
export function checkDesign(request: SoundRequest<Media>): void {
  designBody(request);
  if (!request.input) throw unsupported('input', { atLeast: 1, unit: 'character' });
}

export function designBody(request: SoundRequest<Media>): JsonObject {
  refuseFields(request, FIELDS, SOUND_NAMES);
  refuseExtra(request.extra);
  const { voiceDescription: description, input: text = '', speed, n, extra } = request;
  if (!description) throw unsupported('voice_description', { atLeast: 1, unit: 'character' });
  refuseLength('voice_description', description, 1, DESCRIPTION_CHARS_MAX);
  refuseLength('input', text, 0, TEXT_CHARS_MAX);
  refuseOutside('speed', speed, 0.5, 2);
  if (n > PREVIEWS_MAX) throw unsupported('n', { atMost: PREVIEWS_MAX });
  const { trailing_silence, ...rest } = extra;
  return {
    ...rest,
    utterances: [{ text, description, ...defined({ speed, trailing_silence }) }],
    // Bare samples could not say what they are.
    format: formatFor(request, ['mp3', 'wav']),
    version: DESIGN_VERSION,
    num_generations: n,
  };
}

/** Each generation is a voice. Throws UpstreamError where there are none. */
export function previewsIn({ json, blobs }: JsonWithBlobs, description: string | undefined): VoicePreview[] {
  const previews = objectsAt(json, 'generations').flatMap((generation) => {
    const voiceId = stringAt(generation, 'generation_id') ?? '';
    const audio = typeof generation.audio === 'number' ? blobs[generation.audio] : undefined;
    if (voiceId === '' || audio === undefined || audio.length === 0) return [];
    return [{ voiceId, name: undefined, description, audio }];
  });
  if (previews.length === 0) throw new UpstreamError('garbled', 'an answer without previews');
  return previews;
}
