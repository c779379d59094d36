// The yardstick: the least that Node can do to send the same bytes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerBench } from './child.ts';

const [headersText = '{}', bodyText = ''] = process.argv.slice(2);
const headers: Record<string, string> = JSON.parse(headersText);
const body = Buffer.from(bodyText);
const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  answerBench({ url: `http://127.0.0.1:${port}`, key: '' }, async () => server.closeAllConnections());
});
