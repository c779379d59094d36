/**
 * Media as tools of the Model Context Protocol: one request is one call of one tool, and nothing is kept between two.
 * Hides the protocol's library, which loads with the first request, and its two eras. A tool does its work through the
 * functions behind the routes of `/v1`; how much of a result stands in an answer is decided here.
 */
export type { McpDeps, McpViews } from './deps.ts';
export { answerMcp } from './server.ts';
export type { McpCall } from './tool.ts';
export { MCP_SCOPES, namedTool } from './tools.ts';
