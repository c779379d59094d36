import { UpstreamError } from '../../../errors.ts';
import type { SoundRequest } from '../../../schemas/index.ts';
import { unsupported } from '../../../unsupported.ts';
import { refuseFields } from '../../kit/mapping.ts';
import { SOUND_NAMES } from '../../kit/public-names.ts';
import { refuse } from '../../kit/refusals.ts';
import { piecesOf } from '../../kit/sound.ts';
import type { Wire, WireValue } from '../../kit/wire.ts';
import type { Media, Speech, SpeechWork } from '../../vendor.ts';
import { generate, type Medium, refuseReserved } from './generated.ts';

type Request = SoundRequest<Media>;

const FORMATS = ['wav', 'pcm'] as const;
const SAMPLE_RATE = 24_000;
/** The vendor has no default. */
const VOICE = 'Kore';

/** Speech that comes whole, inside an answer. The vendor counts tokens, so its length is measured here. */
export function speechOver(wire: Wire): SpeechWork {
  return {
    check(request, upstreamModel) {
      toWire(request, upstreamModel);
    },

    async speak(request, upstream) {
      const json = toWire(request, upstream.model);
      const { media } = await generate(wire, upstream, 'audio', { json });
      return toSpeech(media[0], request.format === 'pcm');
    },
  };
}

/** Throws ApiError for what no model of this vendor takes. */
function toWire(request: Request, model: string): WireValue {
  refuseFields(request, ['input', 'prompt', 'voice', 'language', 'format', 'sampleRate'], SOUND_NAMES);
  refuseReserved(request.extra);
  const { input, voice, language, format, sampleRate } = request;
  if (input === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  refuse('response_format', !FORMATS.some((known) => known === (format ?? 'wav')), { oneOf: FORMATS });
  refuse('sample_rate', (sampleRate ?? SAMPLE_RATE) !== SAMPLE_RATE, { oneOf: [SAMPLE_RATE] });
  return {
    ...request.extra,
    contents: [{ role: 'user', parts: [partOf(request, input, model)] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: {
        voiceConfig: { prebuiltVoiceConfig: { voiceName: voice ?? VOICE } },
        languageCode: language,
      },
      ...(isStructured(model) && {
        responseFormat: { audio: { mimeType: format === 'pcm' ? 'AUDIO_L16' : 'AUDIO_WAV' } },
      }),
    },
  };
}

/** The models of 2.5 and 3.1 are told how to speak by the text itself, and know one format. */
function isStructured(model: string): boolean {
  return !/^(?:models\/)?gemini-(?:2\.5|3\.1)-/.test(model);
}

function partOf({ prompt }: Request, input: string, model: string): Record<string, WireValue> {
  if (prompt === undefined) return { text: input };
  if (isStructured(model)) return { text: input, speechMetadata: { style: prompt } };
  return { text: `${prompt}: ${input}` };
}

function toSpeech({ mimeType, data }: Medium, wantsSamples: boolean): Speech {
  const isSamples = /^audio\/(?:l16|pcm)\b/i.test(mimeType);
  if (!isSamples && wantsSamples) throw new UpstreamError('garbled', `samples were asked for and ${mimeType} came`);
  if (!isSamples) return { pieces: piecesOf(data) };
  const rate = Number(/\brate=(\d{4,6})\b/.exec(mimeType)?.[1] ?? SAMPLE_RATE);
  if (wantsSamples) return { pieces: piecesOf(data), samples: { rate, channels: 1 } };
  return { pieces: piecesOf(waveHead(data.length, rate), data) };
}

const HEAD_BYTES = 44;
const SAMPLE_BYTES = 2;

/** The header of a WAV file of one channel. */
function waveHead(bytes: number, rate: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(HEAD_BYTES - 8 + bytes, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * SAMPLE_BYTES, 28);
  head.writeUInt16LE(SAMPLE_BYTES, 32);
  head.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(bytes, 40);
  return head;
}
