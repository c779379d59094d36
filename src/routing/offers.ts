import type { ListedModel } from '../catalogue/index.ts';
import { type CandidateDeps, findReachable } from './candidates.ts';
import { type Accepts, narrowAccepts, type RouteAccepts } from './fits.ts';

/** What these groups can ask of a model: what at least one enabled upstream of theirs takes. */
export function acceptsFor(
  deps: Pick<CandidateDeps, 'catalogue' | 'vendors'>,
  groups: readonly string[],
  model: ListedModel,
): Accepts {
  const candidates = findReachable(deps, groups, model);
  return uniteAccepts(
    model.accepts,
    candidates.map(({ accepts }) => accepts),
  );
}

/** What at least one of several routes takes: lists united in the model's order, bounds at their widest. */
function uniteAccepts(model: Accepts, routes: readonly RouteAccepts[]): Accepts {
  const narrowed = routes.map((route) => narrowAccepts(model, route));
  const united = <Item extends string>(all: readonly Item[], listOf: (accepts: Accepts) => readonly Item[]) =>
    all.filter((item) => narrowed.some((accepts) => listOf(accepts).includes(item)));
  const widest = (boundOf: (accepts: Accepts) => number | undefined) => {
    const bounds = narrowed.map(boundOf).filter((bound) => bound !== undefined);
    return bounds.length === narrowed.length && bounds.length > 0 ? Math.max(...bounds) : undefined;
  };
  // A route without a list takes every format.
  const isBounded = narrowed.every(({ formats }) => formats !== undefined);
  const formats = [...new Set(narrowed.flatMap((accepts) => accepts.formats ?? []))];
  return {
    resolutions: united(model.resolutions, (accepts) => accepts.resolutions),
    aspect_ratios: united(model.aspect_ratios, (accepts) => accepts.aspect_ratios),
    sizes: united(model.sizes, (accepts) => accepts.sizes),
    slots: united(model.slots, (accepts) => accepts.slots),
    n_max: widest((accepts) => accepts.n_max),
    seconds_max: widest((accepts) => accepts.seconds_max),
    formats: isBounded ? formats : undefined,
    voice_sample: narrowed.every((accepts) => accepts.voice_sample === 'required') ? model.voice_sample : undefined,
    voice_design: narrowed.some((accepts) => accepts.voice_design),
  };
}
