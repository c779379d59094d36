import { type ListedModel, PUBLIC_GROUP, type Snapshot } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import { PUBLIC_LIST_RPM_PER_IP } from '../../limits.ts';
import { unitOf } from '../../pricing/index.ts';
import type { HttpDeps } from '../deps.ts';
import { clientAddress } from '../edge/client-address.ts';
import { matchesEtag, Rendered } from '../edge/rendered.ts';
import type { Routes } from '../edge/route.ts';
import { publicListSchema } from '../views/models.ts';

export function publicModelRoutes(routes: Routes, { catalogue, throttle, config }: HttpDeps): void {
  const addressOf = clientAddress(config.trustedProxies);
  let list = { madeFrom: catalogue.snapshot, rendered: render(catalogue.snapshot) };

  routes.add(
    {
      method: 'GET',
      path: '/api/hub/public/models',
      summary: 'The public price list',
      access: 'public',
      head: true,
      anyOrigin: true,
      answers: { 200: publicListSchema, 304: null },
      codes: ['rate_limited', 'limits_unavailable'],
    },
    async ({ request, reply }) => {
      const allowance = { rpm: PUBLIC_LIST_RPM_PER_IP, concurrency: undefined };
      const slot = await throttle.take(`address:${addressOf(request.raw)}`, allowance);
      if (slot.state === 'refused') throw new ApiError(slot.code);
      if (list.madeFrom !== catalogue.snapshot) {
        list = { madeFrom: catalogue.snapshot, rendered: render(catalogue.snapshot) };
      }
      reply.header('etag', list.rendered.etag).header('cache-control', 'public, max-age=60');
      // Also on a 304, where a cache would otherwise forget it.
      reply.header('vary', 'accept-encoding');
      if (matchesEtag(request.headers['if-none-match'], list.rendered.etag)) return reply.code(304).send();
      return list.rendered.send(request, reply);
    },
  );
}

function render(snapshot: Snapshot): Rendered {
  const models = snapshot.reachableFrom([PUBLIC_GROUP]);
  const modalities: Record<string, number> = {};
  for (const { modality } of models) modalities[modality] = (modalities[modality] ?? 0) + 1;
  return new Rendered({
    object: 'list',
    count: models.length,
    modalities,
    updated_at: unixSeconds(snapshot.publicSince),
    data: models.map(entry),
  });
}

function entry(model: ListedModel) {
  return {
    name: model.id,
    modality: model.modality,
    endpoints: model.endpoints,
    pricing: { ...model.pricing, unit: unitOf(model.pricing) },
  };
}
