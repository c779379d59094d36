import type { VendorContract } from '../../../src/vendors/emulator/contract.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: { code } }),
  isErrorInSuccess: true,
  statuses: [[423, 'rate']],
};
