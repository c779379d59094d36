// What the processes call: chat whole or as a stream that takes its time, transcripts, and a queue of pictures.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pass } from 'node:timers/promises';
import { LocalServer } from '../../src/vendors/emulator/local-server.ts';
import { FalEmulator } from '../../src/vendors/fal/emulator.ts';
import { CLIP_PRICE, SECOND_PRICE } from '../support/booth.ts';

const FRAMES = 20;
const FRAME_EVERY_MS = [0, 20, 60, 150] as const;
const TRANSCRIPT_MS = 300;
const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };
const head = { id: 'chatcmpl-rolling', created: 1, model: 'any' };

/** In credits, for each kind of work that the callers ask for. */
export const PRICES = { chat: 1, stream: 1, image: 2, transcript: CLIP_PRICE } as const;
export const TRANSCRIPT = 'all is well';
const QUEUE_KEY = 'id:secret';

class Speaker extends LocalServer {
  #streams = 0;

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.url?.endsWith('/audio/transcriptions') === true) {
      await pass(TRANSCRIPT_MS);
      sendJson(response, { text: TRANSCRIPT });
    } else if ((JSON.parse(body) as { stream?: boolean }).stream === true) {
      await this.#stream(response);
    } else {
      const message = { role: 'assistant', content: 'word' };
      sendJson(response, { ...head, object: 'chat.completion', choices: [choice({ message }, 'stop')], usage });
    }
  }

  /** From one that ends at once to one that outlasts a process's readiness. */
  async #stream(response: ServerResponse): Promise<void> {
    const everyMs = FRAME_EVERY_MS[this.#streams++ % FRAME_EVERY_MS.length];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let frame = 0; frame < FRAMES; frame++) {
      sendFrame(response, [choice({ delta: { content: 'word ' } }, frame === FRAMES - 1 ? 'stop' : null)]);
      await pass(everyMs);
    }
    sendFrame(response, [], usage);
    response.end('data: [DONE]\n\n');
  }
}

function choice(content: object, finish_reason: string | null): object {
  return { index: 0, ...content, finish_reason };
}

function sendFrame(response: ServerResponse, choices: readonly object[], used?: object): void {
  const frame = { ...head, object: 'chat.completion.chunk', choices, ...(used && { usage: used }) };
  response.write(`data: ${JSON.stringify(frame)}\n\n`);
}

function sendJson(response: ServerResponse, document: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
}

export class Upstreams {
  readonly #speaker = new Speaker();
  readonly #queue = new FalEmulator({ apiKey: QUEUE_KEY, readsUntilDone: 2 });

  async start(): Promise<void> {
    await Promise.all([this.#speaker.start(), this.#queue.start()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#speaker.stop(), this.#queue.stop()]);
  }

  /** Hosts that results may be fetched from. */
  get fileHosts(): string {
    return [this.#queue.files.url, this.#queue.url].map((url) => new URL(url).host).join(',');
  }

  get configuration(): object {
    const model = (id: string, modality: string, endpoint: string, more: object) => {
      return { id, modality, owned_by: 'rolling', endpoints: [endpoint], ...more };
    };
    const speaker = [{ upstream: 'speaker', model: 'any' }];
    const tokens = { mode: 'per_token', credits: { input_per_k: 5, output_per_k: 5 } };
    const seconds = { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } };
    const picture = { mode: 'per_image', credits: { base: PRICES.image } };
    return {
      upstreams: [
        { id: 'speaker', vendor: 'openai', base_url: `${this.#speaker.url}/v1` },
        { id: 'queue', vendor: 'fal', base_url: this.#queue.url, api_key: QUEUE_KEY },
      ],
      models: [
        model('rolling/chat', 'chat', 'chat', { max_output_tokens: 100, pricing: tokens, routes: speaker }),
        model('rolling/ear', 'audio', 'transcriptions', { pricing: seconds, routes: speaker }),
        model('rolling/image', 'image', 'images', {
          pricing: picture,
          routes: [{ upstream: 'queue', model: 'fal-ai/flux/dev' }],
        }),
      ],
    };
  }
}
