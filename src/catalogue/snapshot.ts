import type { ConfigDocument, ConfigModel, ConfigUpstream } from '../configuration/index.ts';

/** Callers without groups of their own, and the public price list, see this one. */
export const PUBLIC_GROUP = 'default';

/** A model as it is sold: its configuration, and since when its name exists. */
export type ListedModel = ConfigModel & { readonly createdAt: Date };

/** One configuration in force, ready to be asked. Immutable: a change makes a new one. */
export class Snapshot {
  readonly version: bigint;
  readonly document: ConfigDocument;
  readonly upstreams: ReadonlyMap<string, ConfigUpstream>;
  /** Upstream id to its secret. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Since when the public list has its present content. */
  readonly publicSince: Date;
  readonly #models: ReadonlyMap<string, { readonly model: ListedModel; readonly groups: ReadonlySet<string> }>;

  constructor(from: {
    version: bigint;
    document: ConfigDocument;
    secrets: ReadonlyMap<string, string>;
    createdAt: ReadonlyMap<string, Date>;
    publicSince: Date;
  }) {
    this.version = from.version;
    this.document = from.document;
    this.secrets = from.secrets;
    this.publicSince = from.publicSince;
    this.upstreams = new Map(from.document.upstreams.map((upstream) => [upstream.id, upstream]));
    this.#models = new Map(
      from.document.models.map((model) => {
        const createdAt = from.createdAt.get(model.id) ?? from.publicSince;
        return [model.id, { model: { ...model, createdAt }, groups: groupsOf(model, this.upstreams) }];
      }),
    );
  }

  /** Undefined alike for a model that does not exist and one that these groups cannot reach. */
  find(id: string, groups: readonly string[]): ListedModel | undefined {
    const entry = this.#models.get(id);
    return entry !== undefined && groups.some((group) => entry.groups.has(group)) ? entry.model : undefined;
  }

  /** Whether it is configured, for any group. */
  has(id: string): boolean {
    return this.#models.has(id);
  }

  /** Every model on an upstream's wire that a route leads to. */
  wireModels(upstreamId: string): string[] {
    const routes = this.document.models.flatMap((model) =>
      model.routes.filter(({ upstream }) => upstream === upstreamId),
    );
    return [...new Set(routes.map(({ model }) => model))];
  }

  reachableFrom(groups: readonly string[]): ListedModel[] {
    const entries = [...this.#models.values()];
    return entries.filter((entry) => groups.some((group) => entry.groups.has(group))).map((entry) => entry.model);
  }
}

/** The groups of every enabled upstream that a route leads to. */
function groupsOf(model: ConfigModel, upstreams: ReadonlyMap<string, ConfigUpstream>): ReadonlySet<string> {
  const routed = model.routes.map((route) => upstreams.get(route.upstream));
  return new Set(routed.flatMap((upstream) => (upstream?.enabled === true ? upstream.groups : [])));
}

/** What a public list would show of a document; when this stays the same, the list has not changed. */
export function publicContent(document: ConfigDocument): unknown {
  const upstreams = new Map(document.upstreams.map((upstream) => [upstream.id, upstream]));
  return document.models
    .filter((model) => groupsOf(model, upstreams).has(PUBLIC_GROUP))
    .map(({ id, modality, endpoints, pricing }) => ({ id, modality, endpoints, pricing }));
}
