import type { IncomingMessage, ServerResponse } from 'node:http';
import type { McpServer } from '@modelcontextprotocol/server';
import { ApiError } from '../errors.ts';
import { MCP_BODY_BYTES_MAX } from '../limits.ts';
import { adviceFor } from './advice.ts';
import type { McpDeps } from './deps.ts';
import { type McpCall, type Tool, type ToolCall, type ToolResult, textBlock } from './tool.ts';
import { TOOLS } from './tools.ts';

const INSTRUCTIONS =
  'Makes pictures, clips, music and speech, and transcribes sound, paid from the credits of one account. ' +
  'list_models has every model with its price, estimate tells what a call would cost, credits the balance. ' +
  'Links in results work for 24 hours without a credential. A job that is still running is read with get_job.';

/**
 * Answers one request of the protocol, `body` being what was read of it. Both eras are served without a session: each
 * request has a server of its own.
 */
export async function answerMcp(
  deps: McpDeps,
  call: McpCall,
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
): Promise<void> {
  // Loaded by the first request: a deployment without MCP clients neither starts later nor holds the library in memory.
  const [library, node] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
  ]);
  const open = () => {
    const server = new library.McpServer(
      { name: 'tollgate', title: 'Tollgate', version: deps.version },
      { instructions: INSTRUCTIONS },
    );
    for (const tool of TOOLS) register(server, deps, call, tool);
    return server;
  };
  const endpoint = library.createMcpHandler(open, {
    // The tools never change while a client listens, so there is nothing to subscribe to.
    maxSubscriptions: 0,
    maxRequestBodySize: MCP_BODY_BYTES_MAX,
    onerror: (error) => deps.log.debug({ request_id: call.requestId, err: error }, 'a request of MCP was refused'),
  });
  // Both are answered, and the body is JSON by now, whatever a client remembers to say.
  request.headers.accept = 'application/json, text/event-stream';
  request.headers['content-type'] = 'application/json';
  await node.toNodeHandler(endpoint)(request as IncomingMessage & { method: string; url: string }, response, body);
}

function register(server: McpServer, deps: McpDeps, call: McpCall, tool: Tool): void {
  const { name, title, description, input: inputSchema, annotations } = tool;
  server.registerTool(name, { title, description, inputSchema, annotations }, async (args, { mcpReq }) => {
    const token = mcpReq._meta?.progressToken;
    const notify = (progress: number, message: string) =>
      mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: token, progress, total: 100, message },
      });
    const toolCall: ToolCall = { ...call, report: token === undefined ? undefined : rising(notify) };
    const { content, ...rest } = await runTool(deps, toolCall, tool, args);
    return { ...rest, content: [...content] };
  });
}

/** The protocol wants a number that grows with every notification, also while a job stands still. */
function rising(notify: (progress: number, message: string) => Promise<void>): ToolCall['report'] {
  let last = -1;
  return (percent, message) => {
    last = percent > last ? percent : last + (100 - last) / 100;
    return notify(last, message);
  };
}

/** A failure of the work is a result that says what to change. */
async function runTool(deps: McpDeps, call: ToolCall, tool: Tool, args: Record<string, unknown>): Promise<ToolResult> {
  try {
    const { scopes } = call.caller;
    if (tool.scope !== 'any' && scopes?.has(tool.scope) === false) throw new ApiError('insufficient_scope');
    return await tool.run(deps, call, args);
  } catch (error) {
    const { code, message } = call.refusalOf(error);
    return { content: [textBlock(`${message} ${adviceFor(code)}(${code}, request ${call.requestId})`)], isError: true };
  }
}
