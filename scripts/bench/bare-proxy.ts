// The yardstick for calls: the same web framework and the same client, and nothing else.
import Fastify from 'fastify';
import { Pool } from 'undici';
import { answerBench } from './child.ts';

const [upstream = ''] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 256 });
const server = Fastify();
server.removeAllContentTypeParsers();
server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
for (const path of ['/v1/chat/completions', '/v1/audio/speech']) {
  server.post(path, async (request, reply) => {
    const { statusCode, headers, body } = await pool.request({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: request.body as Buffer,
    });
    return reply.code(statusCode).header('content-type', headers['content-type']).send(body);
  });
}
// A form is passed on while it comes.
server.register(async (forms) => {
  forms.removeAllContentTypeParsers();
  forms.addContentTypeParser('*', (_request, _body, done) => done(null));
  forms.post('/v1/audio/transcriptions', async (request, reply) => {
    const { 'content-type': type = '', 'content-length': length = '' } = request.headers;
    const { statusCode, headers, body } = await pool.request({
      method: 'POST',
      path: '/v1/audio/transcriptions',
      headers: { 'content-type': type, 'content-length': length },
      body: request.raw,
    });
    return reply.code(statusCode).header('content-type', headers['content-type']).send(body);
  });
});
const url = await server.listen({ port: 0, host: '127.0.0.1' });
answerBench({ url, key: '' }, async () => {
  server.server.closeAllConnections();
});
