import type { IncomingHttpHeaders } from 'node:http';
import { objectIn } from '../../emulator/json.ts';
import { ERRORS, type Refusal } from './answers.ts';
import { batchFault } from './embeddings.ts';
import { mediaConfigFault } from './media.ts';

type Json = Record<string, unknown>;

export interface IncomingCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

export interface Terms {
  readonly apiKey: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly isCloud: boolean | undefined;
}

/** A path of the vendor, taken apart. */
export interface Target {
  readonly model: string;
  readonly action: string;
  readonly query: URLSearchParams;
}

const ACTIONS = ['generateContent', 'streamGenerateContent', 'countTokens', 'batchEmbedContents'];

export function targetOf(path: string): Target | undefined {
  const [route = '', ...query] = path.split('?');
  const [, kind = '', name = '', action = ''] = /^\/v1beta\/(models|tunedModels)\/(.+):(\w+)$/.exec(route) ?? [];
  if (!ACTIONS.includes(action)) return undefined;
  const model = decodeURIComponent(kind === 'models' ? name : `${kind}/${name}`);
  return { model, action, query: new URLSearchParams(query.join('?')) };
}

/** What the vendor would say against this request, in the order in which it looks. */
export function refusalOf(call: IncomingCall, terms: Terms): Refusal | undefined {
  const target = targetOf(call.path);
  if (call.method !== 'POST' || target === undefined) return ERRORS['not found'];
  const key = call.headers['x-goog-api-key'] ?? target.query.get('key') ?? undefined;
  if (key === undefined) return { ...ERRORS.forbidden, message: 'Method does not allow unregistered callers.' };
  if (terms.apiKey !== undefined && key !== terms.apiKey) return ERRORS['bad key'];
  if (terms.models !== undefined && !terms.models.includes(target.model)) return ERRORS['not found'];
  if (!/^application\/json\b/.test(call.headers['content-type'] ?? '')) return invalid('Unsupported content type.');
  const body = objectIn(call.bytes);
  if (body === undefined) return invalid('Invalid JSON payload received.');
  const fault = bodyFault(body, target, terms.isCloud === true);
  return fault === undefined ? undefined : invalid(fault);
}

function bodyFault(body: Json, { action, model }: Target, isCloud: boolean): string | undefined {
  if (action === 'batchEmbedContents') return batchFault(body, model);
  return action === 'countTokens' ? countFault(body) : requestFault(body, model, isCloud);
}

function invalid(message: string): Refusal {
  return { ...ERRORS.invalid, message };
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const FIELDS = {
  request: words(
    'model contents systemInstruction tools toolConfig safetySettings cachedContent labels serviceTier store continuationToken generationConfig',
  ),
  count: words('model contents generateContentRequest'),
  content: words('role parts'),
  config: words(
    'temperature topP topK candidateCount maxOutputTokens stopSequences responseLogprobs logprobs presencePenalty frequencyPenalty seed responseMimeType responseSchema responseJsonSchema responseModalities responseFormat mediaResolution speechConfig thinkingConfig imageConfig audioTranscriptionConfig',
  ),
  thinking: words('includeThoughts thinkingBudget thinkingLevel'),
  tool: words('functionDeclarations googleSearch codeExecution urlContext'),
  declaration: words('name description parameters parametersJsonSchema response responseJsonSchema behavior'),
  calling: words('mode allowedFunctionNames'),
  data: words('text inlineData fileData functionCall functionResponse executableCode codeExecutionResult'),
  besides: words('thought thoughtSignature videoMetadata mediaResolution speechMetadata'),
} as const;

function countFault(body: Json): string | undefined {
  const unknown = unknownName(body, FIELDS.count, '');
  if (unknown !== undefined) return unknown;
  const inner = objectOf(body.generateContentRequest);
  return inner === undefined ? contentsFault(body.contents, '') : requestFault(inner, '');
}

function requestFault(body: Json, model: string, isCloud = false): string | undefined {
  return (
    unknownName(body, FIELDS.request, '') ??
    contentsFault(body.contents, model) ??
    instructionFault(field(body, 'systemInstruction')) ??
    firstOf(listOf(body.tools), toolFault) ??
    callingFault(field(objectOf(field(body, 'toolConfig')) ?? {}, 'functionCallingConfig')) ??
    configFault(objectOf(field(body, 'generationConfig')) ?? {}) ??
    mediaConfigFault(objectOf(field(body, 'generationConfig')) ?? {}, body.contents, model, isCloud)
  );
}

function instructionFault(instruction: unknown): string | undefined {
  const given = objectOf(instruction);
  if (given === undefined) return undefined;
  if (!listOf(given.parts).some((part) => objectOf(part)?.text !== '')) return 'systemInstruction has no text.';
  return firstOf(listOf(given.parts), partFault);
}

function contentsFault(contents: unknown, model: string): string | undefined {
  const turns = listOf(contents).map((turn) => objectOf(turn) ?? {});
  if (turns.length === 0) return '* GenerateContentRequest.contents: contents is not specified';
  return firstOf(turns, contentFault) ?? callsFault(turns) ?? signatureFault(turns, model);
}

function contentFault(turn: Json): string | undefined {
  const unknown = unknownName(turn, FIELDS.content, 'contents');
  if (unknown !== undefined) return unknown;
  if (!['user', 'model', undefined].includes(turn.role as string)) return 'Please use a valid role: user, model.';
  if (listOf(turn.parts).length === 0) return '* contents.parts: contents.parts must not be empty.';
  return firstOf(listOf(turn.parts), partFault);
}

function partFault(value: unknown): string | undefined {
  const part = objectOf(value) ?? {};
  const names = Object.keys(part).map(camel);
  const unknown = names.find((name) => !FIELDS.data.has(name) && !FIELDS.besides.has(name));
  if (unknown !== undefined) return unknownText(unknown, 'contents.parts');
  if (names.filter((name) => FIELDS.data.has(name)).length !== 1) return 'contents.parts.data: one of it must be set.';
  const media = objectOf(field(part, 'inlineData'));
  if (media !== undefined && !isMedia(media)) return 'contents.parts.inline_data: Base64 decoding failed.';
  const call = objectOf(field(part, 'functionCall')) ?? objectOf(field(part, 'functionResponse'));
  if (call !== undefined && typeof call.name !== 'string') return 'function name cannot be empty.';
  return undefined;
}

function isMedia(media: Json): boolean {
  const { data } = media;
  return typeof field(media, 'mimeType') === 'string' && typeof data === 'string' && /^[\w+/-]+={0,2}$/.test(data);
}

/** Every call of a turn is answered in the next one. */
function callsFault(turns: readonly Json[]): string | undefined {
  const count = (turn: Json | undefined, name: string) =>
    listOf(turn?.parts).filter((part) => field(objectOf(part) ?? {}, name) !== undefined).length;
  const isUneven = turns.some((turn, index) => {
    const responses = count(turn, 'functionResponse');
    return responses > 0 && responses !== count(turns[index - 1], 'functionCall');
  });
  return isUneven ? 'The number of function response parts must equal that of the function call parts.' : undefined;
}

function signatureFault(turns: readonly Json[], model: string): string | undefined {
  if (!/^gemini-[3-9]/.test(model)) return undefined;
  const firsts = turns.map((turn) =>
    listOf(turn.parts)
      .map(objectOf)
      .find((part) => part?.functionCall !== undefined),
  );
  const isMissing = firsts.some((part) => part !== undefined && field(part, 'thoughtSignature') === undefined);
  return isMissing ? 'Function call is missing a thought_signature in functionCall parts.' : undefined;
}

function toolFault(value: unknown): string | undefined {
  const tool = objectOf(value) ?? {};
  const unknown = unknownName(tool, FIELDS.tool, 'tools');
  return unknown ?? firstOf(listOf(field(tool, 'functionDeclarations')), declarationFault);
}

function declarationFault(value: unknown): string | undefined {
  const declaration = objectOf(value) ?? {};
  const { name } = declaration;
  if (typeof name !== 'string' || !/^[A-Za-z_][\w.:-]{0,127}$/.test(name)) return 'Invalid function name.';
  if (declaration.parameters !== undefined && declaration.parametersJsonSchema !== undefined) {
    return 'parameters and parameters_json_schema are mutually exclusive.';
  }
  return unknownName(declaration, FIELDS.declaration, 'tools.function_declarations');
}

function callingFault(value: unknown): string | undefined {
  const calling = objectOf(value) ?? {};
  const { mode = 'AUTO' } = calling;
  if (!['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(String(mode))) return `Invalid value at mode: "${String(mode)}"`;
  const isNamed = listOf(field(calling, 'allowedFunctionNames')).length > 0;
  if (isNamed && mode !== 'ANY' && mode !== 'VALIDATED') return 'allowed_function_names needs the mode ANY.';
  return unknownName(calling, FIELDS.calling, 'tool_config.function_calling_config');
}

function configFault(config: Json): string | undefined {
  const { temperature = 1, candidateCount = 1, stopSequences = [], responseMimeType } = config;
  if (!isBetween(temperature, 0, 2)) return 'temperature must be in the range [0.0, 2.0].';
  if (!isBetween(candidateCount, 1, 8)) return 'candidateCount must be in the range [1, 8].';
  if (!Array.isArray(stopSequences) || stopSequences.length > 5) return 'At most 5 stop sequences are allowed.';
  const hasSchema = config.responseSchema !== undefined || config.responseJsonSchema !== undefined;
  if (hasSchema && responseMimeType !== 'application/json') return 'A response schema needs application/json.';
  return (
    unknownName(config, FIELDS.config, 'generation_config') ?? thinkingFault(objectOf(config.thinkingConfig) ?? {})
  );
}

function thinkingFault(thinking: Json): string | undefined {
  const { thinkingBudget, thinkingLevel = 'HIGH' } = thinking;
  if (thinkingBudget !== undefined && thinking.thinkingLevel !== undefined) return 'Set a budget or a level, not both.';
  if (!['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'].includes(String(thinkingLevel))) return 'Invalid value at thinking_level.';
  return unknownName(thinking, FIELDS.thinking, 'generation_config.thinking_config');
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}

function unknownName(value: Json, known: ReadonlySet<string>, at: string): string | undefined {
  const name = Object.keys(value).find((key) => !known.has(camel(key)));
  return name === undefined ? undefined : unknownText(name, at);
}

function unknownText(name: string, at: string): string {
  return `Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`;
}

/** The vendor takes either spelling of a name. */
function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function field(value: Json, name: string): unknown {
  return value[name] ?? value[Object.keys(value).find((key) => camel(key) === name) ?? name];
}

function firstOf<Item>(items: readonly Item[], fault: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = fault(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
