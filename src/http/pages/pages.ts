import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import { type Html, html } from '../../html.ts';
import { FORM_PAGE_BYTES_MAX } from '../../limits.ts';
import { type PeopleDeps, sessions, type signIn } from '../../people/index.ts';
import type { BrowserSessions } from '../edge/session.ts';
import { layout, type PageReach, pageHeaders } from './layout.ts';

/** A request for a page, with what its form sent. */
export interface PageCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly form: URLSearchParams;
  readonly query: URLSearchParams;
  readonly param: (name: string) => string;
}

export type PageAnswer =
  | {
      readonly title: string;
      readonly body: Html;
      readonly status?: number;
      readonly reach?: PageReach;
      /** Where the browser goes on by itself, as a step of its own and not as the end of a form. */
      readonly continueTo?: string;
    }
  | { readonly goTo: string };

/** Routes that people look at. They are no part of the API's contract, and their errors are pages too. */
export class Pages {
  readonly #server: FastifyInstance;
  readonly #sessions: BrowserSessions;

  constructor(server: FastifyInstance, sessions: BrowserSessions) {
    this.#server = server;
    this.#sessions = sessions;
  }

  get(path: string, run: (call: PageCall) => PageAnswer | Promise<PageAnswer>): void {
    this.#add('GET', path, run);
  }

  /** A form of one of our own pages: requests that another site's page makes are refused before it is read. */
  post(path: string, run: (call: PageCall) => PageAnswer | Promise<PageAnswer>): void {
    this.#add('POST', path, (call) => {
      this.#sessions.refuseForeignOrigin(call.request);
      return run(call);
    });
  }

  #add(method: 'GET' | 'POST', url: string, run: (call: PageCall) => PageAnswer | Promise<PageAnswer>): void {
    this.#server.route({
      method,
      url,
      bodyLimit: FORM_PAGE_BYTES_MAX,
      handler: async (request, reply) => send(reply, await run(callOf(request, reply))),
      errorHandler: (error, request, reply) => {
        // What has a cause is for the server's own handler, which logs it; its envelope can be read by a person too.
        if (!(error instanceof ApiError) || (error.status >= 500 && error.cause !== undefined)) throw error;
        void sendRefusal(reply, error, request.id);
      },
    });
  }
}

function callOf(request: FastifyRequest, reply: FastifyReply): PageCall {
  const params = request.params as Record<string, string | undefined>;
  const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
  const at = request.url.indexOf('?');
  return {
    request,
    reply,
    form: new URLSearchParams(body),
    query: new URLSearchParams(at < 0 ? '' : request.url.slice(at + 1)),
    param: (name) => params[name] ?? '',
  };
}

function send(reply: FastifyReply, answer: PageAnswer): FastifyReply {
  if ('goTo' in answer) return reply.headers({ location: answer.goTo, 'cache-control': 'no-store' }).code(303).send('');
  if (answer.continueTo !== undefined) reply.header('refresh', `0; url=${answer.continueTo}`);
  return reply
    .code(answer.status ?? 200)
    .headers(pageHeaders(answer.reach))
    .send(layout(answer.title, answer.body));
}

function sendRefusal(reply: FastifyReply, error: ApiError, requestId: string): FastifyReply {
  reply.errorCode = error.code;
  return reply
    .code(error.status)
    .headers({ ...pageHeaders(), ...error.headers })
    .send(refusalPage(error.message, error.code, requestId));
}

export function refusalPage(message: string, code: string, requestId: string): string {
  const body = html`<h1>That did not work</h1><p>${message}</p><p class="soft small">${code} · ${requestId}</p>`;
  return layout('Refused', body);
}

/** A path on this site, or the start page: where a sign-in leads is never another site. */
export function localPath(text: string | null): string {
  const isLocal = text !== null && /^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(text) && !text.includes('\\');
  return isLocal ? text : '/';
}

/** A browser that was signed in leaves its old session behind: the new cookie takes its place, and the old one opens nothing. */
export async function startedSession(
  deps: PeopleDeps,
  browser: BrowserSessions,
  { request, reply }: Pick<PageCall, 'request' | 'reply'>,
  made: signIn.NewSession,
  next: string,
): Promise<PageAnswer> {
  const before = await browser.find(request);
  if (before !== undefined) {
    const actor = { name: before.person.email, requestId: request.id };
    await sessions.endSession(deps, actor, before.person.id, before.session.id);
  }
  browser.begin(reply, made.secret);
  return { goTo: next };
}
