import Fastify, { type FastifyInstance } from 'fastify';
import { Pool } from 'undici';

/** The same web framework and the same client as the gateway, and nothing else; `written` is waited for on both ways. */
export function openProxy(
  upstream: string,
  paths: readonly string[],
  written?: () => Promise<unknown>,
): { server: FastifyInstance; pool: Pool } {
  const pool = new Pool(upstream, { connections: 256 });
  const server = Fastify();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const path of paths) {
    server.post(path, async (request, reply) => {
      if (written !== undefined) await written();
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body: request.body as Buffer,
      });
      if (written !== undefined) await written();
      return reply.code(statusCode).header('content-type', headers['content-type']).send(body);
    });
  }
  return { server, pool };
}
