// An upstream for media: pictures of 100 KiB at once, and a queue whose tasks never end.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { crc32, deflateSync } from 'node:zlib';
import { serveBench } from './servers.ts';

const SIDE = 184;
const picture = noisePng(SIDE).toString('base64');
const pictures = JSON.stringify({ created: 1, data: [{ b64_json: picture }] });
let tasks = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const { url = '' } = request;
    if (url.endsWith('/images/generations')) return void response.writeHead(200, JSON_TYPE).end(pictures);
    if (url.endsWith('/status')) return void response.writeHead(202, JSON_TYPE).end(RUNNING);
    const id = `task-${++tasks}`;
    const response_url = `http://${request.headers.host}/bench/slow/requests/${id}`;
    const links = { response_url, status_url: `${response_url}/status`, cancel_url: `${response_url}/cancel` };
    response.writeHead(200, JSON_TYPE);
    response.end(JSON.stringify({ status: 'IN_QUEUE', request_id: id, queue_position: 0, ...links }));
  });
});
const JSON_TYPE = { 'content-type': 'application/json' };
const RUNNING = JSON.stringify({ status: 'IN_PROGRESS', request_id: 'one' });
serveBench(server);

/** A picture that cannot be made smaller, so its size is that of its points. */
function noisePng(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8);
  const rows = Buffer.concat(
    Array.from({ length: side }, () => Buffer.concat([Buffer.alloc(1), randomBytes(side * 3)])),
  );
  const chunks = [
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
