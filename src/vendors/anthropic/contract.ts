import type { VendorContract } from '../emulator/contract.ts';
import { wire } from '../formats/messages/index.ts';
import { AnthropicEmulator } from './emulator.ts';

const POLICY_WORDS = 'Output blocked by content filtering policy';

export const contract: VendorContract = {
  wire,
  refusal: (type) => ({ type: 'error', error: { type, message: 'marker' } }),
  isErrorInSuccess: true,
  emulator: (apiKey) => new AnthropicEmulator({ apiKey }),
  works: [{ kind: 'chat', model: 'claude-sonnet-4-5' }],
  policy: () => [400, { type: 'error', error: { type: 'invalid_request_error', message: POLICY_WORDS } }],
  credential: {
    what: 'a list of its models',
    request: 'GET /v1/models?limit=1',
  },
};
