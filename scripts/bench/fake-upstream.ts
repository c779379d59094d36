// A model that answers at once, or after 300 ms: one chat answer, a stream of 50 frames, one native answer, vectors, speech
// piece by piece, or a transcript.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { serveBench } from './servers.ts';
import { PIECE_BYTES, PIECE_EVERY_MS, PIECES, pieceWithTime } from './speech-pieces.ts';

const FRAMES = 50;
const SLOW_MS = 300;
const DIMENSIONS = 1536;
const usage = { prompt_tokens: 12, completion_tokens: 50, total_tokens: 62 };
const head = { id: 'chatcmpl-upstream', created: 1, model: 'upstream-model' };
const whole = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(50) }, finish_reason: 'stop' }],
  usage,
});
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const frames = [
  chunk({ role: 'assistant', content: '' }, null),
  ...Array.from({ length: FRAMES - 2 }, (_, index) => chunk({ content: `word ${index} ` }, null)),
  chunk({}, 'stop'),
];
const last = `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`;

const native = JSON.stringify({
  candidates: [{ content: { role: 'model', parts: [{ text: 'word' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 1, totalTokenCount: 13 },
});

const transcript = JSON.stringify({ text: 'word '.repeat(50) });

const server = createServer((request, response) => {
  if (request.url?.startsWith('/v1beta/') === true) {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(native));
    return;
  }
  if (request.url === '/v1/audio/speech') {
    request.resume().on('end', () => speak(response));
    return;
  }
  if (request.url === '/v1/audio/transcriptions') {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(transcript));
    return;
  }
  collect(request, (text) => {
    if (request.url === '/v1/embeddings') return embed(text, response);
    const { stream, model } = JSON.parse(text) as { stream?: boolean; model: string };
    const answer = () => (stream === true ? sendFrames(response) : sendWhole(response));
    if (model.endsWith('slow-chat')) setTimeout(answer, SLOW_MS);
    else answer();
  });
});

function collect(request: IncomingMessage, then: (text: string) => void): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => then(Buffer.concat(pieces).toString()));
}

const numbers = Float32Array.from({ length: DIMENSIONS }, () => Math.random() - 0.5);
const vector = Buffer.from(numbers.buffer).toString('base64');
const answers = new Map<number, Buffer>();

function embed(text: string, response: ServerResponse): void {
  const { input } = JSON.parse(text) as { input: string[] };
  let answer = answers.get(input.length);
  if (answer === undefined) {
    const data = input.map((_, index) => ({ object: 'embedding', index, embedding: vector }));
    const tokens = { prompt_tokens: 12 * input.length, total_tokens: 12 * input.length };
    answer = Buffer.from(JSON.stringify({ object: 'list', data, model: 'upstream-model', usage: tokens }));
    answers.set(input.length, answer);
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
}

function sendWhole(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
}

function sendFrames(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const next = () => {
    if (sent === frames.length) return void response.end(last);
    response.write(frames[sent++]);
    setImmediate(next);
  };
  next();
}

const silence = Buffer.alloc(PIECE_BYTES);

/**
 * The first piece tells when it left. Each stream keeps to its own time: intervals of one length would fall into step
 * after the first delay, and then all streams would speak at once and wait for each other.
 */
function speak(response: ServerResponse): void {
  const startMs = performance.now();
  response.writeHead(200, { 'content-type': 'audio/wav' });
  response.write(pieceWithTime());
  let sent = 1;
  const wait = () => setTimeout(next, Math.max(0, startMs + sent * PIECE_EVERY_MS - performance.now()));
  const next = () => {
    if (sent === PIECES) return void response.end();
    response.write(silence);
    sent++;
    wait();
  };
  wait();
}

serveBench(server);
