import type { Vendor } from '../vendor.ts';
import { chatWork } from './chat.ts';
import { FailureCounts } from './faults.ts';
import { nativeWork } from './native.ts';

const failures = new FailureCounts();

/** Answers on this machine, without a key or a network; fails when a request asks it to. */
export const sandbox: Vendor = {
  name: 'sandbox',
  address: 'none',
  apiKey: 'none',
  chat: chatWork(failures),
  native: nativeWork(failures),
};
