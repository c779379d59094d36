import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { JsonWithBlobs } from '../kit/blobs.ts';
import { defined, objectsAt, stringAt } from '../kit/json.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseLength, refuseOutside } from '../kit/refusals.ts';
import type { Media, VoicePreview } from '../vendor.ts';

const FIELDS = ['voiceDescription', 'input', 'language', 'speed', 'guidanceScale', 'seed', 'format'] as const;
const PREVIEWS = { default: 2, max: 4 };

export function isDesigner(model: string): boolean {
  return model.startsWith('voice-design-');
}

/** Throws ApiError for what cannot be asked of a voice that is to be made. */
export function designFields(request: SoundRequest<Media>): JsonObject {
  refuseFields(request, [...FIELDS, 'autoGenerateText'], SOUND_NAMES);
  // Previews without their sound.
  refuseKeys(request.extra, ['include_audio_base64']);
  const { voiceDescription: instruction, input, language, speed, guidanceScale, seed, n, format } = request;
  if (instruction === undefined) throw unsupported('voice_description', { atLeast: 1, unit: 'character' });
  refuseLength('voice_description', instruction, 1, 2000);
  if (input !== undefined) refuseLength('input', input, 1, 150);
  if (input === undefined && request.autoGenerateText === false)
    throw unsupported('input', { atLeast: 1, unit: 'character without "auto_generate_text"' });
  // Previews come in one format, which is not asked for.
  if (format !== undefined && format !== 'wav') throw unsupported('response_format', { oneOf: ['wav'] });
  refuseOutside('speed', speed, 0.1, 3);
  refuseOutside('guidance_scale', guidanceScale, 0, 100);
  if (n > PREVIEWS.max) throw unsupported('n', { atMost: PREVIEWS.max });
  return defined({
    instruction,
    reference_text: input,
    language,
    n: n > 1 ? n : PREVIEWS.default,
    speed,
    guidance_scale: guidanceScale,
    seed,
  });
}

/** Throws UpstreamError where there are none. */
export function previewsIn({ json, blobs }: JsonWithBlobs, description: string | undefined): VoicePreview[] {
  const previews = objectsAt(json, 'candidates').flatMap((candidate) => {
    const voiceId = stringAt(candidate, 'id') ?? '';
    const audio = typeof candidate.audio_base64 === 'number' ? blobs[candidate.audio_base64] : undefined;
    if (voiceId === '' || audio === undefined || audio.length === 0) return [];
    return [{ voiceId, name: undefined, description, audio }];
  });
  if (previews.length === 0) throw new UpstreamError('garbled', 'an answer without previews');
  return previews;
}
