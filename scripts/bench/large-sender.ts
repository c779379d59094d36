// Sends large native bodies on request, in a process of its own: putting them on the wire holds up everything
// else in the process that does it, and must not be part of how long others wait.
import { createServer } from 'node:http';
import { Agent, request } from 'undici';
import { serveBench } from './servers.ts';

const [gatewayUrl = '', key = '', mediaMib = ''] = process.argv.slice(2);
const MIB = 1024 * 1024;
// As many connections as are needed: no body waits for another's.
const dispatcher = new Agent();

/** By name. What is refused is refused after it was looked at whole: too many members, or an estimate beyond the balance. */
const BODIES: Readonly<Record<string, () => { path: string; body: Buffer }>> = {
  media: () => {
    const data = 'A'.repeat(Number(mediaMib) * MIB - 200);
    const contents = [{ parts: [{ inlineData: { mimeType: 'image/png', data } }, { text: 'What?' }] }];
    return { path: '/v1beta/models/bench/native:generateContent', body: Buffer.from(JSON.stringify({ contents })) };
  },
  members: () =>
    chatBody('Hello', `,"x":{${Array.from({ length: 2_000_000 }, (_, place) => `"${place}":0`).join(',')}}`),
  words: () => chatBody('a word or two '.repeat(Math.floor((25 * MIB) / 14))),
  'unbroken text': () => chatBody('a'.repeat(25 * MIB)),
};

function chatBody(prompt: string, more = ''): { path: string; body: Buffer } {
  const text = `{"model":"bench/chat","messages":[{"role":"user","content":"${prompt}"}]${more}}`;
  return { path: '/v1/chat/completions', body: Buffer.from(text) };
}

async function send({ path, body }: { path: string; body: Buffer }): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const answer = await request(gatewayUrl + path, { method: 'POST', headers, body, dispatcher });
  await answer.body.dump();
  if (answer.statusCode >= 500) throw new Error(`a large body was answered ${answer.statusCode}`);
}

/** `POST /media?times=10` sends ten at once and answers when all have been answered. */
const server = createServer((incoming, response) => {
  const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://sender');
  const large = BODIES[decodeURIComponent(pathname.slice(1))]?.();
  if (large === undefined) return void response.writeHead(404).end('no such body');
  Promise.all(Array.from({ length: Number(searchParams.get('times')) }, () => send(large))).then(
    () => response.end(),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
serveBench(server);
