// Whether what came back is as documented: statuses, envelope, request id, and never our own fault.
import assert from 'node:assert/strict';
import { ContractCheck } from '../support/contract.ts';
import type { Case } from './cases.ts';
import type { Exchange, Reply } from './client.ts';

/** Given before a route is known, so that no operation lists them. */
const EDGE_CODES = new Set([
  ...['malformed_request', 'headers_too_large', 'request_header_timeout', 'too_many_concurrent_requests'],
  ...['shutting_down', 'too_many_connections'],
]);
/** Pages for browsers, and the authorization server, are not in the document. */
const PAGES =
  /^\/(?:$|\?|sign-|account|oauth|console|link|device|consent|password|assets|favicon|docs|llms|\.well-known)/;

export class Verdict {
  readonly #contract: ContractCheck;

  constructor(document: ConstructorParameters<typeof ContractCheck>[0]) {
    this.#contract = new ContractCheck(document);
  }

  /** A sentence for each thing that is wrong. */
  faultsOf({ corpus, method, target, pieces, ending }: Case, { replies, rest, isSilent }: Exchange): string[] {
    const faults: string[] = [];
    if (isSilent) faults.push('no answer within the deadline');
    // An answer to HEAD among several cannot be told from others here.
    const hasHead = corpus === 'wire' && Buffer.concat(pieces).includes('HEAD ');
    if (rest !== '' && !hasHead) faults.push(`what came is no answer: ${JSON.stringify(rest.slice(0, 200))}`);
    for (const reply of replies) {
      const fault =
        this.#faultOf(reply) ??
        (corpus === 'page' || ending !== 'answer' ? undefined : this.#breachOf(method, target, reply));
      if (fault !== undefined) faults.push(fault);
    }
    // A connection that is left in the middle may be ended without a word.
    if (ending === 'answer' && replies.length === 0 && !isSilent) faults.push('the connection ended without an answer');
    return faults;
  }

  /** What no answer may be, whatever the request was. */
  #faultOf({ status, headers, body, isWhole }: Reply): string | undefined {
    const text = () => body.subarray(0, 600).toString('utf8');
    if (status === 500) return `500: ${text()}`;
    if (body.includes('"code":"internal_error"')) return `an internal error in the middle of an answer: ${text()}`;
    if (!/^[\x20-\x7e]{1,128}$/.test(headers['x-request-id'] ?? '')) return `${status} without a request id: ${text()}`;
    if (status < 400 || !isWhole || body.length === 0) return undefined;
    return isJson(headers) ? undefined : this.#pageFault(status, headers);
  }

  #pageFault(status: number, headers: Reply['headers']): string | undefined {
    const type = headers['content-type'] ?? '';
    return type.startsWith('text/html') ? undefined : `${status} as ${type}`;
  }

  #breachOf(method: string, target: string, { status, headers, body, isWhole }: Reply): string | undefined {
    // An answer to HEAD has no body that could be held to anything.
    if (method === 'HEAD') return undefined;
    // Clients of an older era ask whether there are streams and sessions, and take this for a no.
    if (status === 405 && /^\/mcp(?:$|\?)/.test(target)) return undefined;
    // The native surface passes on what an upstream answers, whatever its type.
    if (status === 200 && method === 'POST' && /^\/v1(?:beta)?\/models\//.test(target)) return undefined;
    // Cut streams tell by being cut.
    if (!isWhole) return headers['transfer-encoding'] === 'chunked' ? undefined : `cut after ${body.length} bytes`;
    const text = body.toString('utf8');
    const json = isJson(headers) && text !== '' ? parsed(text) : undefined;
    const code = (json as { error?: { code?: string } } | undefined)?.error?.code ?? '';
    const isEdge = EDGE_CODES.has(code);
    if (!isEdge && PAGES.test(target)) return undefined;
    try {
      this.#contract.check(isEdge ? 'GET' : method, isEdge ? '/nowhere' : target, {
        status: isEdge ? 400 : status,
        headers,
        text,
        json: json ?? {},
      });
      return undefined;
    } catch (error) {
      assert.ok(error instanceof Error);
      return error.message.slice(0, 1_000);
    }
  }
}

function isJson(headers: Reply['headers']): boolean {
  return (headers['content-type'] ?? '').startsWith('application/json');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
