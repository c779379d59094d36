// The yardstick: the least that Node can do to send the files of a folder.
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { answerBench } from './child.ts';

const [folder = ''] = process.argv.slice(2);
const bytesOf = new Map(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]));
const server = createServer((request, response) => {
  const name = /[^/?]+(?=\?|$)/.exec(request.url ?? '')?.[0] ?? '';
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytesOf.get(name) });
  createReadStream(join(folder, name)).pipe(response);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  answerBench({ url: `http://127.0.0.1:${port}`, key: '' }, async () => server.closeAllConnections());
});
