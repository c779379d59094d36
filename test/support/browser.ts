import assert from 'node:assert/strict';
import { request } from 'undici';

export interface Page {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  /** Path and query after every redirect. */
  readonly path: string;
}

/** A browser as far as forms and cookies go: it follows redirects, keeps cookies, and names its origin. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** Every Set-Cookie that it was ever sent. */
  readonly setCookies: string[] = [];
  readonly #url: string;
  readonly #origin: string;

  /** `origin` is the one that the pages believe to have, where a proxy stands in between. */
  constructor(url: string, origin: string = url) {
    this.#url = url;
    this.#origin = origin;
  }

  async open(path: string): Promise<Page> {
    return this.#follow(await this.fetch('GET', path));
  }

  /** Fills in the first form of a page, hidden fields as they stand there, and sends it. */
  async submit(page: Page, fields: Record<string, string>): Promise<Page> {
    const form = /<form method="post"(?: action="([^"]*)")?>([\s\S]*?)<\/form>/.exec(page.text);
    assert.ok(form, page.text);
    const hidden = [...(form[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
    const values = {
      ...Object.fromEntries(hidden.map(([, name, value]) => [name, unescaped(value ?? '')])),
      ...fields,
    };
    return this.#follow(await this.fetch('POST', unescaped(form[1] ?? page.path), values));
  }

  /** One request, no redirect followed. */
  async fetch(
    method: string,
    path: string,
    form?: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const body = form === undefined ? null : new URLSearchParams(form).toString();
    return this.#send(method, path, body, {
      accept: 'text/html',
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  async json(method: string, path: string, body: unknown, csrf: string): Promise<Page & { json: any }> {
    const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf };
    const page = await this.#send(method, path, body === undefined ? null : JSON.stringify(body), headers);
    return { ...page, json: page.text === '' ? undefined : JSON.parse(page.text) };
  }

  /** The token of the pages that this browser sees. */
  async csrf(): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec((await this.open('/account')).text)?.[1] ?? '';
  }

  async #send(method: string, path: string, body: string | null, more: Record<string, string>): Promise<Page> {
    const headers: Record<string, string> = { ...more };
    if (method !== 'GET') headers.origin ??= this.#origin;
    if (headers.origin === '') delete headers.origin;
    if (this.cookies.size > 0) headers.cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await request(this.#url + path, { method, headers, body });
    for (const cookie of [response.headers['set-cookie'] ?? []].flat()) this.#keep(cookie);
    const plain = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    return { status: response.statusCode, headers: Object.fromEntries(plain), text: await response.body.text(), path };
  }

  async #follow(page: Page): Promise<Page> {
    let at = page;
    for (let hops = 0; at.status === 303 || at.status === 302; hops++) {
      assert.ok(hops < 10, 'redirects go in circles');
      const { location = '' } = at.headers;
      if (!location.startsWith('/')) return at;
      at = await this.fetch('GET', location);
    }
    return at;
  }

  #keep(cookie: string): void {
    this.setCookies.push(cookie);
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (cookie.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
