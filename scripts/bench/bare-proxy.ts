// The yardstick for calls: the same web framework and the same client, and nothing else.
import { answerBench } from './child.ts';
import { openProxy } from './proxy.ts';

const [upstream = ''] = process.argv.slice(2);
const { server, pool } = openProxy(upstream, ['/v1/chat/completions', '/v1/audio/speech']);
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
