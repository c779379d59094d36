import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import { objectsAt, stringAt } from '../kit/json.ts';
import type { SpeechWork, VoicePreview } from '../vendor.ts';
import { designCall, soundCall } from './sound-calls.ts';
import { wire } from './wire.ts';

/**
 * Speech, sound effects and the design of voices: the model says which. The vendor tells its charge as well, but in
 * credits of its own, which are no count of characters.
 */
export const speech: SpeechWork = {
  check(request, upstreamModel) {
    soundCall(request, upstreamModel);
  },

  async speak(request, upstream) {
    const { path, json, format } = soundCall(request, upstream.model);
    const pieces = await wire.sound(upstream, { path, accept: '*/*', body: { json } });
    return format.codec === 'pcm' ? { pieces, samples: { rate: format.rate, channels: 1 } } : { pieces };
  },

  async design(request, upstream) {
    const { path, json } = designCall(request, upstream.model);
    const call = { path, body: { json } };
    const answer = await wire.jsonWithBlobs(upstream, call, 'audio_base_64', UPSTREAM_RESPONSE_BYTES_MAX);
    const previews = objectsAt(answer.json, 'previews').flatMap(
      (entry) => previewOf(entry, answer.blobs, request.voiceDescription) ?? [],
    );
    if (previews.length === 0) throw new UpstreamError('garbled', 'an answer without previews');
    return previews;
  },
};

function previewOf(
  entry: JsonObject,
  blobs: readonly Buffer[],
  description: string | undefined,
): VoicePreview | undefined {
  const voiceId = stringAt(entry, 'generated_voice_id') ?? '';
  const audio = typeof entry.audio_base_64 === 'number' ? blobs[entry.audio_base_64] : undefined;
  if (voiceId === '' || audio === undefined || audio.length === 0) return undefined;
  return { voiceId, name: undefined, description, audio };
}
