import { didYouMean } from '../nearest.ts';
import { wideningFindings } from './accepts.ts';
import { fitFindings } from './fit.ts';
import { type ModelOutline, outlineOf, type RouteOutline, type UpstreamOutline } from './outline.ts';
import { excerpt, type Finding, type Path, pathText } from './problems.ts';
import {
  addressProblem,
  credentialProblems,
  dialectProblem,
  keyProblem,
  referenceProblem,
  type VendorTerms,
} from './vendor-terms.ts';

/**
 * What the parts of a document must be to each other. Looks at whatever can be read of the value, so that a fault
 * in one field hides no other problem.
 */
export function crossFindings(value: unknown, vendors: readonly VendorTerms[]): readonly Finding[] {
  const { upstreams, models } = outlineOf(value);
  return [
    ...repeatedIds(upstreams ?? [], 'upstreams'),
    ...repeatedIds(models, 'models'),
    ...(upstreams ?? []).flatMap((upstream, index) => upstreamFindings(upstream, vendors, ['upstreams', index])),
    ...models.flatMap((model, index) => fitFindings(model, ['models', index])),
    ...ownerFindings(models, [...vendors.map(({ name }) => name), ...idsOf(upstreams ?? [])]),
    ...models.flatMap(({ routes }, index) => repeatedRoutes(routes, ['models', index, 'routes'])),
    ...models.flatMap((model, index) => acceptsFindings(model, ['models', index])),
    ...(upstreams === undefined ? [] : unknownUpstreams(models, idsOf(upstreams))),
  ];
}

function repeatedIds(items: readonly { id?: string | undefined }[], list: string): readonly Finding[] {
  const first = new Map<string, number>();
  return items.flatMap(({ id }, index) => {
    if (id === undefined) return [];
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, index);
    const problem = `${excerpt(id)} is already the id of ${list}[${earlier}]`;
    return earlier === undefined ? [] : [{ path: [list, index, 'id'], problem }];
  });
}

function idsOf(items: readonly { id?: string | undefined }[]): readonly string[] {
  return items.flatMap(({ id }) => (id === undefined ? [] : [id]));
}

function upstreamFindings(
  { vendor, base_url, dialect, api_key, credential }: UpstreamOutline,
  vendors: readonly VendorTerms[],
  path: Path,
): readonly Finding[] {
  const findings = finding([...path, 'api_key'], referenceProblem(api_key));
  if (vendor === undefined) return findings;
  const names = vendors.map(({ name }) => name);
  const terms = vendors.find(({ name }) => name === vendor);
  if (terms === undefined) {
    const problem = `expected one of ${names.join(', ')}, got ${excerpt(vendor)}${didYouMean(vendor, names)}`;
    return [...findings, { path: [...path, 'vendor'], problem }];
  }
  if (terms.missing !== undefined) {
    return [...findings, { path: [...path, 'vendor'], problem: `vendor ${vendor} is ${terms.missing}` }];
  }
  return [
    ...findings,
    ...finding([...path, 'base_url'], addressProblem(base_url, terms)),
    ...finding([...path, 'dialect'], dialectProblem(dialect, terms)),
    ...finding([...path, 'api_key'], keyProblem(api_key, terms, credential?.kind, base_url)),
    ...credentialProblems(credential, terms).map(([setting, problem]) => ({
      path: [...path, 'credential', ...(setting === '' ? [] : [setting])],
      problem,
    })),
  ];
}

function finding(path: Path, problem: string | undefined): readonly Finding[] {
  return problem === undefined ? [] : [{ path, problem }];
}

/** Callers read the owner on the model card, and must not learn from it who serves them. */
function ownerFindings(models: readonly ModelOutline[], secretNames: readonly string[]): readonly Finding[] {
  const secret = new Set(secretNames.map((name) => name.toLowerCase()));
  return models.flatMap(({ owned_by }, index) => {
    if (owned_by === undefined || !secret.has(owned_by.toLowerCase())) return [];
    const problem = `${excerpt(owned_by)} names a vendor or an upstream, and callers can read this field`;
    return [{ path: ['models', index, 'owned_by'], problem }];
  });
}

function repeatedRoutes(routes: readonly RouteOutline[], path: Path): readonly Finding[] {
  const first = new Map<string, number>();
  return routes.flatMap(({ upstream, model }, index) => {
    if (upstream === undefined || model === undefined) return [];
    const pair = JSON.stringify([upstream, model]);
    const earlier = first.get(pair);
    if (earlier === undefined) first.set(pair, index);
    const problem = `the same upstream and model as ${pathText([...path, earlier ?? 0])}`;
    return earlier === undefined ? [] : [{ path: [...path, index], problem }];
  });
}

function acceptsFindings({ accepts, routes }: ModelOutline, path: Path): readonly Finding[] {
  if (accepts === undefined) return [];
  return routes.flatMap((route, index) =>
    wideningFindings(accepts, route.accepts ?? {}, [...path, 'routes', index, 'accepts']),
  );
}

function unknownUpstreams(models: readonly ModelOutline[], ids: readonly string[]): readonly Finding[] {
  const known = new Set(ids);
  return models.flatMap(({ routes }, index) =>
    routes.flatMap(({ upstream }, route) => {
      if (upstream === undefined || known.has(upstream)) return [];
      const problem = `there is no upstream ${excerpt(upstream)}${didYouMean(upstream, ids)}`;
      return [{ path: ['models', index, 'routes', route, 'upstream'], problem }];
    }),
  );
}
