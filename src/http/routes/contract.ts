import { z } from 'zod';
import type { HttpDeps } from '../deps.ts';
import { openApiDocument } from '../openapi.ts';
import { Rendered } from '../rendered.ts';
import type { Routes } from '../route.ts';

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
