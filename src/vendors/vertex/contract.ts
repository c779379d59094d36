import type { VendorContract } from '../emulator/contract.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (reason) => ({ error: { message: 'marker', details: [{ reason }] } }),
  isErrorInSuccess: true,
};
