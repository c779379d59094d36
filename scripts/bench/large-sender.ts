// Sends large native bodies when it is told to, in a process of its own: putting them on the wire holds up everything
// else in the process that does it, and that must not be what measures how long others wait.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { answerBench } from './child.ts';

const [gatewayUrl = '', key = '', mib = ''] = process.argv.slice(2);
const data = 'A'.repeat(Number(mib) * 1024 * 1024 - 200);
const contents = [{ parts: [{ inlineData: { mimeType: 'image/png', data } }, { text: 'What?' }] }];
const large = Buffer.from(JSON.stringify({ contents }));
// As many connections as are needed: nobody is to wait for another's.
const dispatcher = new Agent();

async function sendLarge(): Promise<void> {
  const { statusCode, body } = await request(`${gatewayUrl}/v1beta/models/bench/native:generateContent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
    body: large,
    dispatcher,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a large body was answered ${statusCode}`);
}

/** `POST /10` sends ten at once and answers when all have been answered. */
const server = createServer((asked, response) => {
  const sent = Array.from({ length: Number(asked.url?.slice(1)) }, sendLarge);
  Promise.all(sent).then(
    () => response.end(),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  answerBench({ url: `http://127.0.0.1:${port}`, key: '' }, async () => {
    server.closeAllConnections();
    await dispatcher.destroy();
  });
});
