import type { ConfigModel, Endpoint } from '../configuration/index.ts';
import type { JsonObject } from '../json.ts';

/** A call whose price is worth looking at, in words and as a body. */
export interface TypicalCall {
  readonly label: string;
  readonly body: JsonObject;
}

/** One or two calls that a model is used for at an endpoint: an ordinary one, and the dearest if there is a choice. */
export function typicalCalls(model: ConfigModel, endpoint: Endpoint): readonly TypicalCall[] {
  const outputTokens = Math.min(OUTPUT_TOKENS, model.max_output_tokens ?? OUTPUT_TOKENS);
  const tokens = `about 1 000 tokens in, ${outputTokens} out`;
  switch (endpoint) {
    case 'chat':
      return [{ label: tokens, body: { messages: [{ role: 'user', content: TEXT }], max_tokens: outputTokens } }];
    case 'native': {
      const contents = [{ role: 'user', parts: [{ text: TEXT }] }];
      return [{ label: tokens, body: { contents, generationConfig: { maxOutputTokens: outputTokens } } }];
    }
    case 'embeddings':
      return [{ label: 'about 1 000 tokens', body: { input: TEXT } }];
    case 'images':
    case 'image_edits':
      return withDearest(model, 'one picture', { prompt: PROMPT });
    case 'videos': {
      const seconds = usualSeconds(model, VIDEO_SECONDS);
      return withDearest(model, `${seconds} seconds`, { prompt: PROMPT, seconds });
    }
    case 'audio_speech':
      return [{ label: '1 000 characters', body: { input: 'x'.repeat(SPOKEN_CHARS), ...voiceFor(model) } }];
    case 'audio_music': {
      const seconds = usualSeconds(model, MUSIC_SECONDS);
      return [{ label: `${seconds} seconds`, body: { prompt: PROMPT, duration_seconds: seconds } }];
    }
    case 'transcriptions':
      return [{ label: 'one minute', body: { duration_seconds: TRANSCRIBED_SECONDS } }];
  }
}

const PROMPT = 'A gate at dawn';
/** Some 3.5 characters to the token. */
const TEXT = 'word '.repeat(700);
const OUTPUT_TOKENS = 500;
const SPOKEN_CHARS = 1_000;
const VIDEO_SECONDS = 5;
const MUSIC_SECONDS = 30;
const TRANSCRIBED_SECONDS = 60;

function usualSeconds({ accepts }: ConfigModel, usual: number): number {
  return Math.min(usual, accepts.seconds_max ?? usual);
}

/** A sample is only named: an estimate fetches nothing. */
function voiceFor({ accepts }: ConfigModel): JsonObject {
  if (accepts.voice_sample === 'required') return { reference_audio: ['https://media.example/sample.mp3'] };
  return accepts.voice_design ? { voice_description: 'A calm voice' } : {};
}

function withDearest(model: ConfigModel, label: string, body: JsonObject): readonly TypicalCall[] {
  const { pricing, accepts } = model;
  const size = dearest(pricing.size_ratio, accepts.sizes);
  const choice = {
    // A size may contradict a resolution, so only one of them is asked for.
    ...(size === undefined ? named('resolution', dearest(pricing.resolution_ratio, accepts.resolutions)) : { size }),
    ...named('quality', dearest(pricing.quality_ratio)),
    ...(pricing.flag_ratio?.generate_audio !== undefined && accepts.slots.includes('generate_audio')
      ? { generate_audio: true }
      : {}),
  };
  const words = Object.entries(choice).map(([field, value]) => (value === true ? 'with sound' : `${field} ${value}`));
  if (words.length === 0) return [{ label, body }];
  return [
    { label, body },
    { label: [label, ...words].join(', '), body: { ...body, ...choice } },
  ];
}

function named(field: string, value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [field]: value };
}

/** Of the keys that a price distinguishes and that can be asked for, the one with the highest ratio. */
function dearest(ratios: Readonly<Record<string, number>> | undefined, accepted?: readonly string[]) {
  const known = Object.entries(ratios ?? {}).filter(([key]) => accepted?.includes(key) !== false);
  return known.toSorted(([, one], [, other]) => other - one)[0]?.[0];
}
