import { createHash } from 'node:crypto';
import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isObject, itemsAt, objectAt, objectsAt, stringAt } from '../../json-read.ts';
import { invalid } from '../../unsupported.ts';
import { toolsIn } from './request.ts';

/** A function as the caller knows it. */
export interface ToolName {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** Takes a text in place of JSON. */
  readonly isCustom: boolean;
}

/** The tools of a request: as chat has them, and back from chat's names. */
export interface Tools {
  readonly functions: readonly JsonObject[];
  readonly choice: JsonValue | undefined;
  /** As the caller sent them, without those that are dropped. */
  readonly sent: readonly JsonObject[];
  readonly named: ReadonlyMap<string, ToolName>;
}

const SEPARATOR = '__';
/** What chat takes as the name of a function. */
const NAME_CHARS_MAX = 64;
const DIGEST_CHARS = 8;

/**
 * Chat knows no namespaces, so their functions get flat names, which are split again on the way back. A name that would be
 * too long is cut and told apart by a digest: it depends on nothing but itself, so that a later turn gives the same.
 */
export function wireName({ name, namespace }: Pick<ToolName, 'name' | 'namespace'>): string {
  if (namespace === undefined) return name;
  const flat = `${namespace}${SEPARATOR}${name}`.replace(/[^\w-]/g, '_');
  if (flat.length <= NAME_CHARS_MAX) return flat;
  const digest = createHash('sha256').update(flat).digest('hex').slice(0, DIGEST_CHARS);
  return `${flat.slice(0, NAME_CHARS_MAX - DIGEST_CHARS - 1)}_${digest}`;
}

interface Declared extends ToolName {
  readonly tool: JsonObject;
}

/** Hosted tools are dropped: some clients name them always, and what they would cost is no part of any price. */
export function readTools(body: JsonObject): Tools {
  const given = toolsIn(body);
  const sent = given.filter(({ type }) => type === 'function' || type === 'custom' || type === 'namespace');
  const declared = sent.flatMap((tool) => declaredIn(tool, `tools[${given.indexOf(tool)}]`));
  const { mode, allowed } = readChoice(body);
  const offered = allowed === undefined ? declared : declared.filter((tool) => allowed.has(wireName(tool)));
  const hasTools = offered.length > 0;
  if (!hasTools && (mode === 'required' || isObject(mode))) throw invalid('tool_choice', 'needs "tools"');
  return {
    functions: offered.map(toFunction),
    choice: hasTools ? mode : undefined,
    sent,
    named: new Map(
      declared.map(({ name, namespace, isCustom }) => [wireName({ name, namespace }), { name, namespace, isCustom }]),
    ),
  };
}

function declaredIn(tool: JsonObject, where: string): Declared[] {
  const name = requiredName(tool, where);
  if (tool.type !== 'namespace') return [{ name, isCustom: tool.type === 'custom', tool }];
  return objectsAt(tool, 'tools')
    .filter(({ type }) => type === 'function' || type === 'custom')
    .map((inner, at) => ({
      name: requiredName(inner, `${where}.tools[${at}]`),
      namespace: name,
      isCustom: inner.type === 'custom',
      tool: inner,
    }));
}

function requiredName(tool: JsonObject, where: string): string {
  const name = stringAt(tool, 'name') ?? '';
  if (name === '') throw invalid(`${where}.name`, 'is not a text');
  return name;
}

/** The one argument of a tool that takes a text. */
const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

function toFunction({ tool, isCustom, ...named }: Declared): JsonObject {
  const { description, strict } = tool;
  return {
    type: 'function',
    function: {
      name: wireName(named),
      ...(typeof description === 'string' && { description }),
      ...(isCustom ? { parameters: CUSTOM_PARAMETERS } : parametersOf(tool)),
      ...(typeof strict === 'boolean' && { strict }),
    },
  };
}

function parametersOf(tool: JsonObject): JsonObject {
  const parameters = objectAt(tool, 'parameters');
  return parameters === undefined ? {} : { parameters };
}

interface Choice {
  readonly mode: JsonValue | undefined;
  /** The names to which the choice is narrowed. */
  readonly allowed?: ReadonlySet<string>;
}

function readChoice(body: JsonObject): Choice {
  const choice = body.tool_choice ?? undefined;
  if (choice === undefined || isMode(choice)) return { mode: choice };
  if (!isObject(choice)) throw invalid('tool_choice', 'is not one of auto, none, required or an object');
  if (choice.type === 'allowed_tools') return readAllowed(choice);
  if (choice.type !== 'function' && choice.type !== 'custom') {
    throw new ApiError('unsupported_parameter', {
      message: '"tool_choice": only functions can be called here; tools that an upstream runs itself are not offered.',
      param: 'tool_choice',
    });
  }
  return { mode: { type: 'function', function: { name: chosenName(choice, 'tool_choice') } } };
}

function readAllowed(choice: JsonObject): Choice {
  const mode = choice.mode ?? 'auto';
  if (!isMode(mode)) throw invalid('tool_choice.mode', 'is not auto or required');
  const names = itemsAt(choice, 'tools')
    .filter(isObject)
    .filter(({ type }) => type === 'function' || type === 'custom')
    .map((tool, at) => chosenName(tool, `tool_choice.tools[${at}]`));
  return { mode, allowed: new Set(names) };
}

function chosenName(tool: JsonObject, where: string): string {
  return wireName({ name: requiredName(tool, where), namespace: stringAt(tool, 'namespace') });
}

function isMode(value: JsonValue): boolean {
  return value === 'auto' || value === 'none' || value === 'required';
}
