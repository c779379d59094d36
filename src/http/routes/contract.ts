import { z } from 'zod';
import { openApiDocument } from '../contract/openapi.ts';
import type { HttpDeps } from '../deps.ts';
import { Rendered } from '../edge/rendered.ts';
import type { Routes } from '../edge/route.ts';

export function contractRoutes(routes: Routes, { version, config }: HttpDeps): void {
  let rendered: Rendered | undefined;
  routes.add(
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      access: 'public',
      anyOrigin: true,
      answers: { 200: z.record(z.string(), z.unknown()) },
    },
    ({ request, reply }) => {
      // Made on first use, when every route is known.
      rendered ??= new Rendered(openApiDocument(routes.contracts, version, config.publicUrl));
      return rendered.send(request, reply);
    },
  );
}
