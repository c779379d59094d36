import { ApiError } from '../../errors.ts';
import { LOGGED_PATH_CHARS_MAX } from '../../limits.ts';
import { nearest } from '../../nearest.ts';
import { quoted } from '../../quoted.ts';
import type { Contract } from '../contract/contract.ts';
import { FACADE } from '../contract/facade.ts';

/** `url` is path and query as they came; the query may hold a credential and is not shown. */
export function notFound(method: string, url: string, hint = ''): ApiError {
  return new ApiError('not_found', { message: `There is nothing at ${method} ${quoted(pathOf(url))}.${hint}` });
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

/** A path as it is logged where no route stands for it. */
export function loggedPath(url: string): string {
  return pathOf(url).slice(0, LOGGED_PATH_CHARS_MAX);
}

/**
 * Whether the fixed segments of a route stand in the path as they are. The framework compares what it has decoded, so
 * that `/%76%31/models` would pass wherever something in front of this server guards `/v1`.
 */
export function isMatchedRaw(route: string, url: string): boolean {
  if (!url.includes('%')) return true;
  const segments = pathOf(url).split('/');
  for (const [place, segment] of route.split('/').entries()) {
    if (segment === '*') return true;
    if (!segment.startsWith(':') && segment !== segments[place]) return false;
  }
  return true;
}

interface Hint {
  readonly method: Contract['method'];
  readonly path: string;
  /** How paths are compared: without version, in small letters and in the singular; `*` stands for any segment. */
  readonly form: readonly string[];
  readonly takesRest: boolean;
  readonly isOfFacade: boolean;
}

/** Longer paths than these are like no route. */
const PATH_CHARS_MAX = 200;
const OPERATOR_PATH = /^\/api\/admin(\/|$)/i;
const NATIVE_PATH = /^\/v1beta(\/|$)/;

/** Which route was probably meant by a request that found none. Never tells a route of the operator. */
export class RouteHints {
  readonly #hints: readonly Hint[];
  readonly #native: Contract | undefined;
  readonly #origin: string;

  /** `origin` is where callers reach this server. */
  constructor(contracts: readonly Contract[], origin: string) {
    this.#origin = origin;
    const open = contracts.filter(({ access }) => access !== 'operator');
    this.#native = open.find(({ url }) => url !== undefined);
    this.#hints = open.filter(({ url }) => url === undefined).map(hintOf);
  }

  /** A sentence to stand behind the refusal, or nothing. */
  for(method: string, url: string): string {
    const path = pathOf(url);
    // What cancels is no mistyped name of something else: there is no such route on purpose.
    if (method === 'DELETE' || path.length > PATH_CHARS_MAX || OPERATOR_PATH.test(path) || NATIVE_PATH.test(path)) {
      return '';
    }
    const form = formOf(path);
    if (form.at(-1)?.includes(':') === true) {
      return method === 'POST' && this.#native !== undefined ? didYouMean(this.#native) : '';
    }
    // What was sent to one base URL was not meant for the other.
    const near = this.#hints.filter(({ isOfFacade }) => isOfFacade === isFacadePath(path));
    const similar = similarRoutes(near, form);
    const hint = similar.find((each) => each.method === method) ?? similar[0];
    if (hint === undefined) return '';
    const methods = similar.filter((each) => each.path === path).map((each) => each.method);
    if (methods.length > 0) return ` This path takes ${methods.join(' or ')}.`;
    return didYouMean(hint) + this.#addressHint(path, hint);
  }

  /** Libraries put their own paths behind an address that some want with the version and some without. */
  #addressHint(path: string, hint: Hint): string {
    if (!hint.path.startsWith('/v1/')) return '';
    if (path.startsWith('/v1/v1/')) return ` This client writes /v1 itself: its base URL is ${this.#origin}.`;
    return hint.path === `/v1${path}` ? ` The base URL of this client is ${this.#origin}/v1.` : '';
  }
}

/** The routes of the same form, else those that it begins if it begins only one, else those of a similar form. */
function similarRoutes(hints: readonly Hint[], form: readonly string[]): readonly Hint[] {
  const same = hints.filter((hint) => isOfForm(form, hint));
  if (same.length > 0) return same;
  const longer = hints.filter((hint) => isBegunBy(form, hint));
  if (longer.length === 1) return longer;
  const plainPaths = hints.map((hint) => hint.form.join('/')).filter((text) => !text.includes('*'));
  const close = nearest(form.join('/'), plainPaths);
  return close === undefined ? [] : hints.filter((hint) => hint.form.join('/') === close);
}

function isFacadePath(path: string): boolean {
  return path.startsWith(`${FACADE}/`);
}

function didYouMean({ method, path }: Pick<Contract, 'method' | 'path'>): string {
  return ` Did you mean ${method} ${path.replace('*}', '}')}?`;
}

function hintOf({ method, path }: Contract): Hint {
  const form = formOf(path.replace(/\{\w+\*?\}/g, '*'));
  return { method, path, form, takesRest: path.endsWith('*}'), isOfFacade: isFacadePath(path) };
}

function formOf(path: string): readonly string[] {
  const segments = path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '');
  const version = segments.lastIndexOf('v1', VERSION_PLACE_MAX);
  return segments.slice(version + 1).map(singular);
}

/** Where client libraries put a version once more, or behind a word of their own. */
const VERSION_PLACE_MAX = 1;

function singular(segment: string): string {
  return segment.length > 3 && segment.endsWith('s') ? segment.slice(0, -1) : segment;
}

function isOfForm(form: readonly string[], hint: Hint): boolean {
  const hasLength = hint.takesRest ? form.length >= hint.form.length : form.length === hint.form.length;
  return hasLength && hint.form.every((segment, place) => segment === '*' || segment === form[place]);
}

function isBegunBy(form: readonly string[], hint: Hint): boolean {
  const isNext = hint.form.length === form.length + 1 && hint.form.at(-1) !== '*';
  return isNext && form.every((segment, place) => segment === hint.form[place]);
}
