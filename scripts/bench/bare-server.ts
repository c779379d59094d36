// The yardstick for reads from memory: the least that Node can do to send the same bytes.
import { createServer } from 'node:http';
import { serveBench } from './servers.ts';

const [headersText = '{}', bodyText = ''] = process.argv.slice(2);
const headers: Record<string, string> = JSON.parse(headersText);
const body = Buffer.from(bodyText);
serveBench(createServer((_request, response) => void response.writeHead(200, headers).end(body)));
