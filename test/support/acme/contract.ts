import { atFirstPoll, type VendorContract } from '../../../src/vendors/emulator/contract.ts';
import { AcmeEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: { code } }),
  isErrorInSuccess: true,
  emulator: (apiKey, { picture }) => atFirstPoll(new AcmeEmulator(apiKey, picture)),
  works: [{ kind: 'image', model: 'sketch' }],
  statuses: [[423, 'rate']],
};
