// The upstreams of the fuzzer, in a process of their own: one port that answers as it should, and one whose answers are
// garbled, endless, cut or wrong in some other way. Files by seed are served on the first.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Random } from '../../packages/verify/src/random.ts';
import { lie } from './lies.ts';
import { makeSamples, type Sample, spoiledSample } from './media-corpus.ts';

/** To the driver, once. */
export interface UpstreamReport {
  readonly honest: number;
  readonly liar: number;
  /** What files are made from, so that they are encoded once. */
  readonly samples: readonly Sample[];
}

const TEXT = 'The answer is forty-two.';
const FRAMES = 4;
const USAGE = { prompt_tokens: 7, completion_tokens: 6, total_tokens: 13 };
const NATIVE_USAGE = { promptTokenCount: 7, candidatesTokenCount: 6, totalTokenCount: 13 };

/** A well-formed answer. */
export interface UpstreamAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

function answerTo(path: string, origin: string, body: string, samples: readonly Sample[]): UpstreamAnswer | undefined {
  const [, kind] = /^\/(?:fal-ai|queue)\/(video|audio)/.exec(path) ?? [];
  if (kind !== undefined) return json(queueDocument(path, origin, kind));
  const sample = (name: string) => samples.find((each) => each.name === name)?.bytes ?? Buffer.alloc(0);
  const isStream = /"stream":\s*true/.test(body);
  if (path.endsWith('/chat/completions')) return isStream ? events(chatFrames()) : json(chatDocument());
  if (path.includes('/images/')) {
    const count = Math.min(10, Number(/"n":\s*(\d+)|name="n"\r\n\r\n(\d+)/.exec(body)?.slice(1).join('') || 1));
    return json({ created: 1, data: Array(count).fill({ b64_json: sample('a.png').toString('base64') }) });
  }
  if (path.endsWith('/embeddings')) return json(vectorsDocument(body));
  if (path.endsWith('/audio/speech')) return { contentType: 'audio/wav', body: sample('a.wav') };
  if (path.endsWith('/audio/transcriptions'))
    return json({ text: TEXT, language: 'english', duration: 0.3, segments: [] });
  if (path.includes(':countTokens')) return json({ totalTokens: 7 });
  if (path.includes(':generateContent')) return json(nativeDocument());
  if (path.includes(':streamGenerateContent')) return events([JSON.stringify(nativeDocument())]);
  if (path.endsWith('/models')) return json({ object: 'list', data: [] });
  return undefined;
}

/** A queue whose work is done when it is first asked after. */
function queueDocument(path: string, origin: string, kind: string): object {
  const task = `${origin}/queue/${kind}`;
  if (path.startsWith('/fal-ai/'))
    return { request_id: 'r', status_url: `${task}/status`, response_url: `${task}/result` };
  if (path.endsWith('/status')) return { status: 'COMPLETED' };
  const seed = process.hrtime()[1];
  return { [kind]: { url: `${origin}/files/${seed}/${kind === 'video' ? 'a.mp4' : 'a.mp3'}` } };
}

function chatDocument(): object {
  const message = { role: 'assistant', content: TEXT };
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
  };
}

/** As many as there are inputs. */
function vectorsDocument(body: string): object {
  const { input } = JSON.parse(body) as { input: unknown[] };
  const data = input.map((_, index) => ({ object: 'embedding', index, embedding: 'AACAPwAAAAA=' }));
  return { object: 'list', data, model: 'm', usage: { prompt_tokens: 7, total_tokens: 7 } };
}

function chatFrames(): string[] {
  const frame = (choices: unknown[], more = {}) =>
    JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more });
  const pieces = Array.from({ length: FRAMES }, (_, place) =>
    frame([{ index: 0, delta: { content: `word ${place} ` }, finish_reason: null }]),
  );
  return [...pieces, frame([{ index: 0, delta: {}, finish_reason: 'stop' }]), frame([], { usage: USAGE }), '[DONE]'];
}

function nativeDocument(): object {
  const content = { role: 'model', parts: [{ text: TEXT }] };
  return { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata: NATIVE_USAGE };
}

function json(value: object): UpstreamAnswer {
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) };
}

function events(frames: readonly string[]): UpstreamAnswer {
  return { contentType: 'text/event-stream', body: Buffer.from(frames.map((frame) => `data: ${frame}\n\n`).join('')) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

async function serve(samples: readonly Sample[], random: Random | undefined): Promise<number> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const [, seed, name] = /^\/files\/(\d+)\/(.+)$/.exec(path) ?? [];
    if (seed !== undefined) {
      const mine = samples.filter((each) => each.name === name);
      const { mimeType, bytes } = spoiledSample(mine.length > 0 ? mine : samples, new Random(Number(seed)));
      response.setHeader('content-type', mimeType);
      return response.end(bytes);
    }
    const honest = answerTo(path, `http://${request.headers.host}`, await textOf(request), samples);
    if (honest === undefined) return response.writeHead(404).end();
    if (random !== undefined) return lie(request, response, honest, random);
    return response.writeHead(200, { 'content-type': honest.contentType }).end(honest.body);
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    // A gateway that leaves in the middle of its request is as it should be.
    answer(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

process.once('disconnect', () => process.exit());
const samples = await makeSamples();
const report: UpstreamReport = {
  samples,
  honest: await serve(samples, undefined),
  liar: await serve(samples, new Random(Number(process.argv[2] ?? 1))),
};
process.send?.(report);
