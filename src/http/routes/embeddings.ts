import { embed } from '../../calls/index.ts';
import { EMBEDDING_BODY_BYTES_MAX, EMBEDDING_VALUES_MAX } from '../../limits.ts';
import { embeddings } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { embeddingsBody, embeddingsSchema } from '../views/embeddings.ts';
import { CALL_CODES, callContext } from './call.ts';

export function embeddingRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/embeddings',
      summary: 'Texts as vectors, up to 2,048 in one call',
      access: 'caller',
      scope: 'user:inference:chat',
      logged: 'embeddings',
      example: { model: 'sandbox/embedding', input: ['A toll gate by the sea', 'the gates at sea'], dimensions: 64 },
      body: {
        kind: 'json',
        schema: embeddings.embeddingSchema,
        bytesMax: EMBEDDING_BODY_BYTES_MAX,
        valuesMax: EMBEDDING_VALUES_MAX,
      },
      answers: { 200: embeddingsSchema },
      codes: [...CALL_CODES, 'missing_model', 'missing_input', 'url_in_extra', 'invalid_media_url', 'request_canceled'],
    },
    async ({ body, exact, caller, request, reply }) => {
      const embedding = embeddings.toEmbeddingRequest(body, exact());
      const made = await embed(deps, caller, embedding, callContext(request, reply));
      return reply.header('content-type', 'application/json; charset=utf-8').send(embeddingsBody(embedding, made));
    },
  );
}
