import type { ListedVendor } from '../listed.ts';

/** Wan's pictures and clips, Qwen's pictures, speech and transcripts. What is unverified of it is listed in docs/vendor-facts.md. */
export const dashscope: ListedVendor = {
  name: 'dashscope',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
