import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './postgres.ts';

/** A span as it came over the wire, its attributes as a plain object. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Record<string, unknown>;
  readonly events: readonly { readonly name: string; readonly attributes: Record<string, unknown> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly resource: Record<string, unknown>;
}

// biome-ignore lint/suspicious/noExplicitAny: documents of every shape come here
type Document = any;

/** A receiver of OTLP over HTTP as JSON: keeps what it is sent. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Every push of metrics. */
  readonly pushes: Document[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** Every byte that came, for what must not be in it. */
  text = '';
  status = 200;
  readonly #server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      this.headers.push(request.headers);
      assert.equal(request.headers['content-type'], 'application/json');
      const text = Buffer.concat(pieces).toString();
      this.text += text;
      if (this.status === 200) this.#keep(request.url ?? '', JSON.parse(text));
      response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}');
    });
  });

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** All spans of the trace that has one of this name with these attributes, once it has arrived. */
  async trace(name: string, attributes: Record<string, unknown> = {}): Promise<readonly ReceivedSpan[]> {
    const isIt = (span: ReceivedSpan) =>
      span.name === name && Object.entries(attributes).every(([key, value]) => span.attributes[key] === value);
    await until(async () => this.spans.some(isIt));
    const { traceId } = this.spans.find(isIt) ?? assert.fail();
    return this.spans.filter((span) => span.traceId === traceId);
  }

  #keep(path: string, document: Document): void {
    if (path === '/v1/metrics') {
      this.pushes.push(document);
      return;
    }
    assert.equal(path, '/v1/traces');
    for (const { resource, scopeSpans } of document.resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }: Document) => spans)) {
        this.spans.push({
          ...span,
          parentSpanId: span.parentSpanId === '' ? undefined : span.parentSpanId,
          attributes: plain(span.attributes),
          events: (span.events ?? []).map((event: Document) => ({ ...event, attributes: plain(event.attributes) })),
          links: span.links ?? [],
          resource: plain(resource.attributes),
        });
      }
    }
  }
}

function plain(attributes: readonly { key: string; value: Record<string, unknown> }[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
