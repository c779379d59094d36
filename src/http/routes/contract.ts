import { z } from 'zod';
import { openApiDocument } from '../contract/openapi.ts';
import type { HttpDeps } from '../deps.ts';
import { Rendered } from '../edge/rendered.ts';
import type { Routes } from '../edge/route.ts';

export function contractRoutes(routes: Routes, { version, config }: HttpDeps): void {
  let document: Promise<Rendered> | undefined;
  routes.add(
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      access: 'public',
      anyOrigin: true,
      answers: { 200: z.record(z.string(), z.unknown()) },
    },
    async ({ request, reply }) => {
      // Made on first use, when every route is known.
      document ??= openApiDocument(routes.contracts, version, config.publicUrl).then((value) => new Rendered(value));
      return (await document).send(request, reply);
    },
  );
}
