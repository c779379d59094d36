import { Document, isMap, isPair, isScalar, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import { acceptsSchema } from './accepts.ts';
import type { ConfigDocument } from './document.ts';

/** The document as YAML for people: without what is so by default, and with short lists and maps in one line. */
export function writeYaml({ upstreams, models }: ConfigDocument): string {
  const written = {
    upstreams: upstreams.map((upstream) => without(upstream, UPSTREAM_DEFAULTS)),
    models: models.map(writtenModel),
  };
  const text = new Document(written, {
    aliasDuplicateObjects: false,
    // Readers of older YAML take 16:9 for a number of seconds.
    compat: 'yaml-1.1',
  });
  visit(text, {
    Seq: (_key, list) => flowIfShort(list),
    Map: (_key, map, path) => {
      flowIfShort(map);
      // An empty line between two upstreams, or two models.
      const list = path.at(-1);
      if (path.length === ITEM_DEPTH && typeof list === 'object' && 'items' in list && list.items[0] !== map) {
        map.spaceBefore = true;
      }
    },
  });
  return text.toString({ lineWidth: LINE_CHARS });
}

const LINE_CHARS = 110;
const SHORT_CHARS = 80;
/** The document, its map, the pair and its list. */
const ITEM_DEPTH = 4;

const UPSTREAM_DEFAULTS = { groups: ['default'], priority: 0, weight: 1, timeout_seconds: 120, enabled: true };
const MODEL_DEFAULTS = { display_name: '', description: '', tags: [] };
const ACCEPTS_DEFAULTS = acceptsSchema.parse({});

function writtenModel({ accepts, pricing, routes, ...model }: ConfigDocument['models'][number]): object {
  const said = without(accepts, ACCEPTS_DEFAULTS);
  return {
    ...without(model, MODEL_DEFAULTS),
    pricing: without(pricing, { currency: 'usd' }),
    ...(Object.keys(said).length === 0 ? {} : { accepts: said }),
    routes,
  };
}

function without(value: object, defaults: Readonly<Record<string, unknown>>): object {
  const said = Object.entries(value).filter(([key, own]) => JSON.stringify(own) !== JSON.stringify(defaults[key]));
  return Object.fromEntries(said);
}

/** Plain values only, few enough for one line. */
function flowIfShort(node: YAMLMap | YAMLSeq): void {
  const parts = node.items.flatMap((item: unknown) => (isPair(item) ? [item.key, item.value] : [item]));
  const isPlain = parts.every((part) => isScalar(part));
  const chars = parts.reduce((sum: number, part) => sum + (isScalar(part) ? String(part.value).length + 2 : 0), 0);
  if (node.items.length === 0 || (isPlain && chars <= SHORT_CHARS && !(isMap(node) && node.items.length > PAIRS_MAX))) {
    node.flow = true;
  }
}

/** A map of more is easier to read line by line. */
const PAIRS_MAX = 6;
