import type { SoundRequest } from '../../schemas/index.ts';
import { amountAt } from '../kit/json.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { musicCall } from './sound-calls.ts';
import { wire } from './wire.ts';

/**
 * Songs and sound effects, made while the vendor keeps the line open: the model says which. There is no task, and so
 * nothing to ask after or to find again. One piece is made by a call.
 */
export const music: TaskWork<SoundRequest<Media>> = {
  check: (request, upstreamModel) => void musicCall(request, upstreamModel),
  perCall: () => 1,

  async submit(request, _order, upstream) {
    const { path, json } = musicCall(request, upstream.model);
    const { data, headers } = await wire.wholeSound(upstream, { path, accept: '*/*', body: { json } });
    const credits = amountAt({ cost: Number(headers['character-cost'] ?? Number.NaN) }, 'cost');
    return { state: 'succeeded', outputs: [{ data }], usage: { credits } };
  },
};
