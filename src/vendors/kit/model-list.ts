import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { UPSTREAM_MODEL_PAGES_MAX } from '../../limits.ts';
import type { Upstream } from './http.ts';
import { readBytes } from './http.ts';
import { isList, isObject, stringAt } from './json.ts';
import type { Wire } from './wire.ts';

/** What an upstream says that it offers. */
interface OfferedModels {
  /** As a route names them. */
  readonly ids: readonly string[];
  /** False where there were more pages than are read. */
  readonly isWhole: boolean;
}

/** A list call that costs nothing. Throws UpstreamError. */
export type ListModels = (upstream: Upstream) => Promise<OfferedModels>;

/** How a vendor lists its models, page by page. */
interface ListRules {
  /** The call of the first page, and of the one behind `next`. */
  path(next: string | undefined): string;
  /** Where in an answer the models are, in one list or more; some vendors answer the bare list. */
  readonly key: string | readonly string[];
  /** The name of a model, as a route has it, or all such names; undefined for what is none. */
  name(model: JsonObject): string | readonly string[] | undefined;
  /** What the next page is asked by; undefined at the end. */
  next?(answer: JsonObject): string | undefined;
}

export function listingModels(wire: Wire, rules: ListRules): ListModels {
  return async (upstream) => {
    const ids = new Set<string>();
    let next: string | undefined;
    for (let page = 0; page < UPSTREAM_MODEL_PAGES_MAX; page++) {
      const answer = await readAnswer(wire, upstream, rules.path(next));
      for (const model of modelsIn(answer, rules.key)) {
        for (const id of [rules.name(model) ?? []].flat()) ids.add(id);
      }
      next = isObject(answer) ? rules.next?.(answer) : undefined;
      if (next === undefined) return { ids: [...ids], isWhole: true };
    }
    return { ids: [...ids], isWhole: false };
  };
}

/** By `id`, as most list them. */
export function byId(model: JsonObject): string | undefined {
  return stringAt(model, 'id');
}

async function readAnswer(wire: Wire, upstream: Upstream, path: string): Promise<JsonValue> {
  const text = (await readBytes(await wire.send(upstream, { path }))).toString('utf8');
  let answer: JsonValue;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw new UpstreamError('garbled', 'the list of models is not JSON', { cause: error });
  }
  if (isObject(answer)) wire.faults.throwIfError(answer);
  return answer;
}

function modelsIn(answer: JsonValue, key: string | readonly string[]): readonly JsonObject[] {
  return [key].flat().flatMap((name) => {
    const models = isObject(answer) ? answer[name] : answer;
    if (!isList(models)) throw new UpstreamError('garbled', `a list of models without "${name}"`);
    return models.filter(isObject);
  });
}

/** Of a next page that is told as an address, its cursor alone: nothing is asked of an address that came in an answer. */
export function cursorAt(answer: JsonObject, key: string): string | undefined {
  const address = stringAt(answer, key) ?? '';
  return (URL.canParse(address) && new URL(address).searchParams.get('cursor')) || undefined;
}
