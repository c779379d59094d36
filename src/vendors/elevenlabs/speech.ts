import { UpstreamError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import { readJsonWithBlobs } from '../kit/blobs.ts';
import type { Upstream, UpstreamReply } from '../kit/http.ts';
import { isList, isObject, stringAt } from '../kit/json.ts';
import { openSound } from '../kit/sound.ts';
import type { SpeechWork, VoicePreview } from '../vendor.ts';
import { designCall, type SoundCall, soundCall } from './sound-calls.ts';
import { post } from './wire.ts';

/**
 * Speech, sound effects and the design of voices: the model says which. The vendor tells its charge as well, but in
 * credits of its own, which are no count of characters.
 */
export const speech: SpeechWork = {
  check(request, upstreamModel) {
    soundCall(request, upstreamModel);
  },

  async speak(request, upstream) {
    const call = soundCall(request, upstream.model);
    const pieces = await openSound(await postJson(upstream, call), () => undefined);
    const { codec, rate } = call.format;
    return codec === 'pcm' ? { pieces, samples: { rate, channels: 1 } } : { pieces };
  },

  async design(request, upstream) {
    const reply = await postJson(upstream, designCall(request, upstream.model));
    const { json, blobs } = await readJsonWithBlobs(reply, 'audio_base_64', UPSTREAM_RESPONSE_BYTES_MAX);
    const entries = isList(json.previews) ? json.previews : [];
    const previews = entries.flatMap((entry) => previewOf(entry, blobs, request.voiceDescription) ?? []);
    if (previews.length === 0) throw new UpstreamError('garbled', 'an answer without previews');
    return previews;
  },
};

function postJson(upstream: Upstream, { path, body }: SoundCall): Promise<UpstreamReply> {
  return post(upstream, path, 'application/json', JSON.stringify(body));
}

function previewOf(
  entry: JsonValue,
  blobs: readonly Buffer[],
  description: string | undefined,
): VoicePreview | undefined {
  if (!isObject(entry)) return undefined;
  const voiceId = stringAt(entry, 'generated_voice_id') ?? '';
  const audio = typeof entry.audio_base_64 === 'number' ? blobs[entry.audio_base_64] : undefined;
  if (voiceId === '' || audio === undefined || audio.length === 0) return undefined;
  return { voiceId, name: undefined, description, audio };
}
