import type { Endpoint } from '../configuration/index.ts';
import { ApiError } from '../errors.ts';
import type { McpDeps } from './deps.ts';
import type { ToolCall } from './tool.ts';

/** The one that is named, else the first in the catalogue's order that these groups reach and that needs no voice sample. */
export function modelOf({ catalogue }: McpDeps, call: ToolCall, endpoint: Endpoint, named: string | undefined): string {
  const model = named ?? firstModel(catalogue.snapshot.reachableFrom(call.caller.groups), endpoint);
  if (model === undefined) {
    throw new ApiError('model_not_found', { message: 'This key reaches no model that does this.', param: 'model' });
  }
  call.noteModel(model);
  return model;
}

type Reachable = ReturnType<McpDeps['catalogue']['snapshot']['reachableFrom']>;

function firstModel(models: Reachable, endpoint: Endpoint): string | undefined {
  const able = models.filter(({ endpoints }) => endpoints.includes(endpoint));
  return able.find(({ accepts }) => accepts?.voice_sample !== 'required' && accepts?.voice_design !== true)?.id;
}
