// The yardstick for reads: the least that Node can do to send the files of a folder.
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { serveBench } from './servers.ts';

const [folder = ''] = process.argv.slice(2);
const bytesOf = new Map(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]));
serveBench(
  createServer((request, response) => {
    const name = /[^/?]+(?=\?|$)/.exec(request.url ?? '')?.[0] ?? '';
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytesOf.get(name) });
    createReadStream(join(folder, name)).pipe(response);
  }),
);
