import { SPOKEN_CHARS_MAX } from '../../../src/limits.ts';
import type { SoundRequest } from '../../../src/schemas/index.ts';
import { countCharacters } from '../../../src/text/index.ts';
import type { Upstream } from '../../../src/vendors/kit/http.ts';
import type { Media, SpeechWork, VoicePreview } from '../../../src/vendors/vendor.ts';
import { encodingOf, type Ways } from './encoding.ts';
import { type Cut, type FailureCounts, injectFault } from './faults.ts';
import { faultsIn, refuse, refuseOutside, withoutUrls } from './tasks.ts';
import type { Speaker } from './voice/engines.ts';
import { isSpeakable } from './voice/passages.ts';
import type { SpeechOrder } from './voice/speaker.ts';
import { clonedVoice, designVoices, KNOWN_VOICES, type Voice, voiceOf } from './voice/voices.ts';

const DESIGNING_MODEL = 'voice-design';
const CLONING_MODEL = 'voice-clone';
const PREVIEW_CHARS_MAX = 1_000;
const PREVIEW_TEXT = 'This is how the voice sounds. It reads a sentence or two, so that you can choose.';
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;
const VOLUME_MAX = 2;

/** One channel; the rate is what players of bare samples take them for, and the others keep to it. */
const SPOKEN = { sampleRate: 24_000, channels: 1 } as const;
const WAYS: Ways = {
  mp3: { ...SPOKEN, kilobits: () => 64 },
  aac: { ...SPOKEN, kilobits: () => 64 },
  opus: { ...SPOKEN, kilobits: () => 32 },
  ogg: SPOKEN,
  flac: SPOKEN,
  wav: SPOKEN,
  pcm: SPOKEN,
};

type Asked = SoundRequest<Media>;

/** Speech from the built-in synthesiser. */
export function speechWork(failures: FailureCounts, speaker: Speaker): SpeechWork {
  const begin = (request: Asked, upstream: Upstream, isStream: boolean) => {
    const bytes = () => JSON.stringify(request, withoutUrls);
    return injectFault(faultsIn(request), upstream, failures, { bytes, isStream });
  };
  return {
    check(request, upstreamModel) {
      checkSound(request, upstreamModel);
      checkText(request, upstreamModel);
      faultsIn(request);
    },
    async speak(request, upstream) {
      const cut = await begin(request, upstream, true);
      const [sample] = request.referenceAudio;
      const cloned = sample === undefined ? undefined : clonedVoice(await sample.read());
      const order = orderOf(request, cloned);
      const pieces = cutShort(
        speaker.pieces(async () => order, upstream),
        cut,
      );
      const { sampleRate: rate, channels, format } = order.encoding;
      return {
        pieces,
        characters: countCharacters(order.text),
        ...(format === 'pcm' && { samples: { rate, channels } }),
      };
    },
    async design(request, upstream) {
      await begin(request, upstream, false);
      const previews: VoicePreview[] = [];
      for (const { id, name, description } of designVoices(request.voiceDescription ?? '')) {
        const order = orderOf({ ...request, voice: undefined, referenceId: id });
        const parts: Uint8Array[] = [];
        for await (const part of speaker.pieces(async () => order, upstream)) parts.push(part);
        previews.push({ voiceId: id, name, description, audio: Buffer.concat(parts) });
      }
      return previews;
    },
  };
}

function orderOf(request: Asked, cloned?: Voice): SpeechOrder {
  const { voice, referenceId, speed = 1, volume = 1 } = request;
  return {
    text: textOf(request) || PREVIEW_TEXT,
    voice: cloned ?? voiceOf(referenceId ?? voice) ?? refuse('voice', { oneOf: [KNOWN_VOICES] }),
    speed,
    volume,
    encoding: encodingOf(request, WAYS),
  };
}

/** What is paid for is said: the text, and lyrics behind it. A prompt is said where there is nothing else. */
function textOf({ input, lyrics, prompt }: Asked): string {
  const words = [input, lyrics].filter((text) => text !== undefined && text !== '');
  return words.length > 0 ? words.join('\n') : (prompt ?? '');
}

function checkSound(request: Asked, upstreamModel: string): void {
  const { voice, referenceId, language } = request;
  encodingOf(request, WAYS);
  refuseOutside('speed', request.speed, SPEED_MIN, SPEED_MAX);
  refuseOutside('volume', request.volume, 0, VOLUME_MAX);
  for (const [field, id] of Object.entries({ voice, reference_id: referenceId })) {
    if (voiceOf(id) === undefined) refuse(field, { oneOf: [KNOWN_VOICES, 'ids of designed voices'] });
  }
  if (language !== undefined && !isEnglish(language)) refuse('language', { oneOf: ['en'] });
  const unknown = {
    loudness: request.loudness,
    guidance_scale: request.guidanceScale,
    prompt_influence: request.promptInfluence,
    duration_seconds: request.durationSeconds,
    instrumental: request.instrumental || undefined,
    loop: request.loop || undefined,
    auto_generate_text: request.autoGenerateText || undefined,
    reference_audio: upstreamModel === CLONING_MODEL ? undefined : request.referenceAudio[0],
  };
  for (const [field, value] of Object.entries(unknown)) {
    if (value !== undefined) refuse(field);
  }
}

function checkText(request: Asked, upstreamModel: string): void {
  const { voiceDescription = '', voice, referenceId, prompt = '' } = request;
  const text = textOf(request);
  // Every other text has been counted before.
  if (countCharacters(prompt) > SPOKEN_CHARS_MAX) refuse('prompt', { atMost: SPOKEN_CHARS_MAX, unit: 'characters' });
  const isDescribed = voiceDescription !== '' && voice === undefined && referenceId === undefined;
  if (isDescribed && upstreamModel !== DESIGNING_MODEL) refuse('voice_description');
  if (isDescribed && text.length > PREVIEW_CHARS_MAX)
    refuse('input', { atMost: PREVIEW_CHARS_MAX, unit: 'characters' });
  if (isDescribed && text === '') return;
  if (!isSpeakable(text)) refuse('input', 'another value');
}

/** `en`, `en-GB`, `English`. */
export function isEnglish(language: string): boolean {
  return /^(?:en(?:[-_]\w+)*|eng|english)$/i.test(language);
}

/** The pieces, up to where they are to break off. */
async function* cutShort(pieces: AsyncIterable<Uint8Array>, cut: Cut | undefined): AsyncIterable<Buffer> {
  let sent = 0;
  for await (const piece of pieces) {
    if (sent === cut?.afterFrames) {
      if (cut.error !== undefined) throw cut.error;
      return;
    }
    yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    sent++;
  }
}
