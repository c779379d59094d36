import type { Scope } from '../scopes.ts';
import { credits, listModels } from './account-tools.ts';
import { generateMusic, generateVideo } from './clip-tools.ts';
import { estimate } from './estimate.ts';
import { getJob } from './get-job.ts';
import { editImage, generateImage } from './image-tools.ts';
import { jobTool } from './maker.ts';
import { speak } from './speak.ts';
import type { Tool } from './tool.ts';
import { transcribe } from './transcribe.ts';

/** In the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  jobTool(generateImage),
  jobTool(editImage),
  jobTool(generateVideo),
  jobTool(generateMusic),
  speak,
  transcribe,
  listModels,
  estimate,
  getJob,
  credits,
];

/** Every scope that one of the tools needs, as a client without a credential is told. */
export const MCP_SCOPES: readonly Scope[] = [
  ...new Set(TOOLS.flatMap(({ scope }) => (scope === 'any' ? [] : [scope]))),
];

/** The tool that a message calls, where it calls one that there is. */
export function namedTool(message: { readonly method?: unknown; readonly params?: unknown }): Tool | undefined {
  const { method, params } = message;
  if (method !== 'tools/call' || typeof params !== 'object' || params === null || !('name' in params)) return undefined;
  return TOOLS.find(({ name }) => name === params.name);
}
