type Json = Record<string, unknown>;

/** What models make, as the emulator sends it. */
export interface Samples {
  readonly picture: Buffer;
  readonly pictureType: string;
  /** Of 16 bits, one channel, 24 000 a second. */
  readonly samples: Buffer;
  /** The same with a header. */
  readonly wave: Buffer;
  readonly clip: Buffer;
  readonly song: Buffer;
}

const NONE = Buffer.from('none');
export const NO_SAMPLES: Samples = {
  picture: NONE,
  pictureType: 'image/png',
  samples: NONE,
  wave: NONE,
  clip: NONE,
  song: NONE,
};

const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9', '1:4', '4:1', '1:8', '8:1'];
/** What only a cloud's host takes of `imageConfig`. */
const CLOUD_FIELDS = ['personGeneration', 'prominentPeople', 'imageOutputOptions'];
const WAVES = ['AUDIO_WAV', 'AUDIO_L16', 'AUDIO_MULAW', 'AUDIO_ALAW'];
const VOICES =
  'Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat';

/** What the vendor has against how a request wants media made. */
export function mediaConfigFault(config: Json, contents: unknown, model: string, isCloud: boolean): string | undefined {
  const modalities = list(config.responseModalities);
  const odd = modalities.find((modality) => !['TEXT', 'IMAGE', 'AUDIO'].includes(String(modality)));
  if (odd !== undefined) return `Invalid value at generation_config.response_modalities: ${JSON.stringify(odd)}`;
  if (modalities.includes('IMAGE') && !isImageModel(model)) return unsupported('image');
  if (modalities.includes('AUDIO') !== isSpeechModel(model)) return unsupported('audio');
  return (
    imageFault(object(config.imageConfig), model, isCloud) ??
    speechFault(object(config.speechConfig), model) ??
    formatFault(config.responseFormat, model) ??
    styleFault(contents, model)
  );
}

function unsupported(modality: string): string {
  return `Model does not support the requested response modalities: ${modality}`;
}

function isImageModel(model: string): boolean {
  return /-image|banana/.test(model);
}

function isSpeechModel(model: string): boolean {
  return /-tts/.test(model);
}

/** Older models are told how to speak by the text itself. */
function isStructured(model: string): boolean {
  return isSpeechModel(model) && !/^gemini-(2\.5|3\.1)-/.test(model);
}

function imageFault(config: Json | undefined, model: string, isCloud: boolean): string | undefined {
  if (config === undefined) return undefined;
  const { aspectRatio = '1:1', imageSize = '1K', ...others } = config;
  const [unknown] = Object.keys(others).filter((name) => !isCloud || !CLOUD_FIELDS.includes(name));
  if (unknown !== undefined) return `Unknown name "${unknown}" at 'generation_config.image_config': Cannot find field.`;
  const { mimeType = 'image/png' } = object(others.imageOutputOptions) ?? {};
  if (!['image/png', 'image/jpeg'].includes(String(mimeType))) return 'Unsupported output mime type.';
  if (!RATIOS.includes(String(aspectRatio))) return 'aspect_ratio must be one of the supported ratios.';
  const sizes = /flash-lite-image/.test(model) ? ['1K'] : ['1K', '2K', '4K'];
  const all = /gemini-3\.1-flash-image/.test(model) ? ['512', ...sizes] : sizes;
  return all.includes(String(imageSize)) ? undefined : 'image_size is not supported by the model.';
}

function speechFault(config: Json | undefined, model: string): string | undefined {
  if (config === undefined) return isSpeechModel(model) ? 'speech_config is required.' : undefined;
  const { voiceConfig, languageCode, multiSpeakerVoiceConfig, ...others } = config;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `Unknown name "${unknown}" at 'generation_config.speech_config'.`;
  if (languageCode !== undefined && !/^"[a-z]{2,3}(-[A-Za-z0-9]+)*"$/.test(JSON.stringify(languageCode))) {
    return 'Unsupported language code.';
  }
  if (multiSpeakerVoiceConfig !== undefined) return undefined;
  const voice = String(object(object(voiceConfig)?.prebuiltVoiceConfig)?.voiceName);
  const isKnown = isStructured(model) || VOICES.split(' ').includes(voice);
  return isKnown && voice !== 'undefined' ? undefined : `Voice name ${voice} is not supported.`;
}

function formatFault(format: unknown, model: string): string | undefined {
  if (format === undefined) return undefined;
  if (!isStructured(model)) return 'response_format is not supported by the model.';
  const mimeType = object(object(format)?.audio)?.mimeType;
  return WAVES.includes(String(mimeType)) ? undefined : 'Invalid value at response_format.audio.mime_type.';
}

function styleFault(contents: unknown, model: string): string | undefined {
  const parts = list(contents).flatMap((turn) => list(object(turn)?.parts));
  const hasStyle = parts.some((part) => object(part)?.speechMetadata !== undefined);
  return hasStyle && !isStructured(model) ? 'speech_metadata is not supported by the model.' : undefined;
}

/** What the model answers with where it was asked for media. */
export function mediaParts(body: Json, model: string, samples: Samples): Json[] | undefined {
  const config = object(body.generationConfig) ?? {};
  const modalities = list(config.responseModalities);
  if (modalities.includes('IMAGE')) return [inline(samples.pictureType, samples.picture)];
  if (!modalities.includes('AUDIO')) return undefined;
  const mimeType = object(object(config.responseFormat)?.audio)?.mimeType ?? 'AUDIO_WAV';
  const isWave = isStructured(model) && mimeType === 'AUDIO_WAV';
  if (isWave) return [inline('audio/wav', samples.wave)];
  return [inline('audio/L16;codec=pcm;rate=24000', samples.samples)];
}

export function inline(mimeType: string, data: Buffer): Json {
  return { inlineData: { mimeType, data: data.toString('base64') } };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function object(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}
