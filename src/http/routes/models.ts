import { type Catalogue, requireModel, type Snapshot } from '../../catalogue/index.ts';
import { MODEL_LISTS_CACHED_MAX } from '../../limits.ts';
import type { HttpDeps } from '../deps.ts';
import { Rendered } from '../edge/rendered.ts';
import type { Routes } from '../edge/route.ts';
import { modelListSchema, modelListView, modelSchema, modelView } from '../views/models.ts';

export function modelRoutes(routes: Routes, { catalogue }: HttpDeps): void {
  const lists = new RenderedLists(catalogue);

  routes.add(
    {
      method: 'GET',
      path: '/v1/models',
      summary: 'The models that this key can use, with their prices',
      access: 'caller',
      scope: 'any',
      console: 'run',
      answers: { 200: modelListSchema },
    },
    ({ request, reply, caller }) => lists.of(caller.groups).send(request, reply),
  );

  routes.add(
    {
      method: 'GET',
      path: '/v1/models/{model_id*}',
      summary: 'One model; its id may contain slashes',
      access: 'caller',
      scope: 'any',
      console: 'run',
      answers: { 200: modelSchema },
      codes: ['model_not_found'],
    },
    ({ caller, param }) => modelView(requireModel(catalogue.snapshot, caller.groups, param('model_id'))),
  );
}

/** One list per set of groups, made when first asked for and thrown away with the catalogue it was made from. */
class RenderedLists {
  readonly #catalogue: Catalogue;
  readonly #lists = new Map<string, Rendered>();
  #madeFrom: Snapshot | undefined;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  of(groups: readonly string[]): Rendered {
    const { snapshot } = this.#catalogue;
    if (snapshot !== this.#madeFrom || this.#lists.size > MODEL_LISTS_CACHED_MAX) {
      this.#lists.clear();
      this.#madeFrom = snapshot;
    }
    const name = groups.join();
    let list = this.#lists.get(name);
    if (list === undefined) {
      list = new Rendered(modelListView(snapshot.reachableFrom(groups)));
      this.#lists.set(name, list);
    }
    return list;
  }
}
