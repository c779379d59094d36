import { sniff } from '../../../media/index.ts';
import { countCharacters } from '../../../text/index.ts';
import { isObject, objectIn } from '../../emulator/json.ts';
import {
  type Check,
  type IncomingCall,
  isOneOf,
  isText,
  isWithin,
  type Refusal,
  refusalOfEnvelope,
  refusalOfFields,
  refusalOfModel,
  type Terms,
  wrong,
} from './checks.ts';

type Json = Record<string, unknown>;

/** A form with a recording in it, as the vendor read it. A name that ends in `[]` has a list. */
export interface Recording {
  readonly task: 'transcribe' | 'translate';
  readonly fields: Json;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer };
}

const VOICES = 'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' ');
const TEXT_CHARS_MAX = 4096;

const SPEECH_FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  input: isText,
  voice: (value) => isText(value) || (isObject(value) && Object.keys(value).join() === 'id' && isText(value.id)),
  instructions: isText,
  response_format: isOneOf('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'),
  speed: isWithin(0.25, 4),
  stream_format: isOneOf('audio', 'sse'),
};

/** The vendor's reading of a text to speak, or its refusal. */
export function readSpeech(
  call: IncomingCall,
  terms: Terms,
): { readonly fields: Json } | { readonly refusal: Refusal } {
  const outside = refusalOfEnvelope(call, terms);
  if (outside !== undefined) return { refusal: outside };
  const body = objectIn(call.bytes);
  if (body === undefined) return { refusal: wrong('We could not parse the JSON body of your request.') };
  const refusal = refusalOfSpeech(body, terms);
  return refusal === undefined ? { fields: body } : { refusal };
}

function refusalOfSpeech(body: Json, terms: Terms): Refusal | undefined {
  const { model, input, voice } = body;
  if (!isText(model)) return wrong('you must provide a model parameter');
  const refusal = refusalOfModel(String(model), terms) ?? refusalOfFields(body, terms, SPEECH_FIELDS);
  if (refusal !== undefined) return refusal;
  if (typeof input !== 'string' || input === '') return missing('input');
  if (terms.isLenient) return undefined;
  if (countCharacters(input) > TEXT_CHARS_MAX) return wrong('Too long.', 'input', 'string_above_max_length');
  if (voice === undefined) return missing('voice');
  if (typeof voice === 'string' && !VOICES.includes(voice)) return wrong('Unknown voice.', 'voice', 'invalid_value');
  return refusalOfSpeaker(body, String(model));
}

function refusalOfSpeaker({ instructions, stream_format: stream }: Json, model: string): Refusal | undefined {
  if (!/^(tts-1|tts-1-hd|gpt-4o-mini-tts(-\d{4}-\d\d-\d\d)?)$/.test(model)) return invalid('model');
  if (!model.startsWith('tts-1')) return undefined;
  if (instructions !== undefined) return invalid('instructions');
  return stream === 'sse' ? invalid('stream_format') : undefined;
}

const isTextList: Check = (value) => Array.isArray(value) && value.every(isText);

const TRANSCRIPTION_FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  language: (value) => /^[a-z]{2,3}$/.test(String(value)),
  'languages[]': isTextList,
  'keywords[]': isTextList,
  prompt: isText,
  response_format: isOneOf('json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'),
  temperature: (value) => /^[\d.]+$/.test(String(value)) && isWithin(0, 1)(Number(value)),
  'timestamp_granularities[]': (value) => Array.isArray(value) && value.every(isOneOf('word', 'segment')),
  'include[]': (value) => Array.isArray(value) && value.every(isOneOf('logprobs')),
  chunking_strategy: isOneOf('auto'),
  'chunking_strategy[type]': isOneOf('server_vad'),
  'chunking_strategy[threshold]': isText,
  'chunking_strategy[prefix_padding_ms]': isText,
  'chunking_strategy[silence_duration_ms]': isText,
  'known_speaker_names[]': isTextList,
  'known_speaker_references[]': isTextList,
  stream: isOneOf('false'),
};

const TRANSLATION_FIELDS: typeof TRANSCRIPTION_FIELDS = {
  model: isText,
  prompt: isText,
  response_format: isOneOf('json', 'text', 'srt', 'verbose_json', 'vtt'),
  temperature: (value) => /^[\d.]+$/.test(String(value)) && isWithin(0, 1)(Number(value)),
};

/** The vendor's reading of a recording to write down, or its refusal. */
export async function readRecording(
  call: IncomingCall,
  terms: Terms,
  task: Recording['task'],
): Promise<Recording | { readonly refusal: Refusal }> {
  const outside = refusalOfEnvelope(call, terms, 'multipart/form-data');
  if (outside !== undefined) return { refusal: outside };
  const { fields, files } = (await readForm(call)) ?? {};
  if (fields === undefined || files === undefined) return { refusal: wrong('Could not parse multipart form') };
  const refusal = task === 'translate' ? refusalOfTranslation(fields, terms) : refusalOfValues(fields, terms);
  if (refusal !== undefined) return { refusal };
  const [file, second] = files;
  if (file === undefined || second !== undefined || file.part !== 'file') return { refusal: missing('file') };
  const unread = refusalOfFile(file, terms);
  return unread === undefined ? { task, fields, file } : { refusal: unread };
}

interface SentFile {
  readonly part: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

async function readForm({ bytes, headers }: IncomingCall): Promise<{ fields: Json; files: SentFile[] } | undefined> {
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
  if (form === undefined) return undefined;
  const fields: Json = {};
  const files: SentFile[] = [];
  for (const [part, value] of form.entries()) {
    if (typeof value !== 'string') {
      files.push({ part, name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) });
    } else fields[part] = part.endsWith('[]') ? form.getAll(part) : value;
  }
  return { fields, files };
}

function refusalOfValues(fields: Json, terms: Terms): Refusal | undefined {
  const { model, response_format: format = 'json', 'timestamp_granularities[]': times } = fields;
  if (!isText(model)) return wrong('you must provide a model parameter');
  const refusal = refusalOfModel(String(model), terms) ?? refusalOfFields(fields, terms, TRANSCRIPTION_FIELDS);
  if (refusal !== undefined || terms.isLenient) return refusal;
  if (times !== undefined && format !== 'verbose_json') return invalid('timestamp_granularities');
  return refusalOfListener(fields, String(model), String(format));
}

function refusalOfTranslation(fields: Json, terms: Terms): Refusal | undefined {
  const { model } = fields;
  if (!isText(model)) return wrong('you must provide a model parameter');
  const refusal = refusalOfModel(String(model), terms) ?? refusalOfFields(fields, terms, TRANSLATION_FIELDS);
  if (refusal !== undefined || terms.isLenient) return refusal;
  return model === 'whisper-1' ? undefined : invalid('model');
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  'whisper-1': ['json', 'text', 'srt', 'verbose_json', 'vtt'],
  'gpt-4o-transcribe': ['json'],
  'gpt-4o-mini-transcribe': ['json'],
  'gpt-4o-transcribe-diarize': ['json', 'text', 'diarized_json'],
  'gpt-transcribe': ['json'],
};

function refusalOfListener(fields: Json, model: string, format: string): Refusal | undefined {
  const formats = FORMATS[model];
  if (formats === undefined) return invalid('model');
  if (!formats.includes(format)) {
    const text = `response_format '${format}' is not compatible with model '${model}'.`;
    return wrong(text, 'response_format', 'unsupported_value');
  }
  const [newest] = ['languages[]', 'keywords[]'].filter((name) => fields[name] !== undefined);
  if (newest !== undefined && model !== 'gpt-transcribe') return invalid(newest);
  const isDiarising = model.endsWith('-diarize');
  if (isDiarising && fields.prompt !== undefined) return invalid('prompt');
  const isChunked = Object.keys(fields).some((name) => name.startsWith('chunking_strategy'));
  return isDiarising && !isChunked ? missing('chunking_strategy') : undefined;
}

const FILE_BYTES_MAX = 26_214_400;
const EXTENSIONS = ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm'];

function refusalOfFile({ name, type, bytes }: SentFile, { isLenient }: Terms): Refusal | undefined {
  if (bytes.length === 0) return wrong('The audio file is empty.', 'file', 'invalid_value');
  if (bytes.length > FILE_BYTES_MAX && !isLenient) {
    const text = `Maximum content size limit (${FILE_BYTES_MAX}) exceeded (${bytes.length} bytes read)`;
    return { ...wrong(text), type: 'server_error', status: 413 };
  }
  const found = sniff(bytes.subarray(0, 4096));
  const extension = name.slice(name.lastIndexOf('.') + 1);
  // Sound alone, and sound with pictures, may be in the same container.
  const isNamed = found?.extension.replace('m4a', 'mp4') === extension.replace('m4a', 'mp4');
  const isTyped = found?.mimeType.split('/')[1] === type.split('/')[1];
  if (isNamed && isTyped && (isLenient || EXTENSIONS.includes(extension))) return undefined;
  return wrong(`Invalid file format. Supported formats: ${JSON.stringify(EXTENSIONS)}`, 'file', 'invalid_value');
}

function missing(name: string): Refusal {
  return wrong(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter');
}

function invalid(name: string): Refusal {
  return wrong(`Invalid value for '${name}'.`, name, 'invalid_value');
}
