import type { VendorContract } from '../emulator/contract.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (name) => ({ __type: `com.amazon#${name}`, message: 'marker' }),
  isErrorInSuccess: true,
  statuses: [[424, 'server']],
  stream: ['application/vnd.amazon.eventstream', '\0\0\u0001\0'],
};
