/**
 * The edge moved by callers: connections, requests, admission, routes, views, and the contract they are held to.
 * The only folder that knows the web framework; nothing below it sees a request or a reply.
 */
export type { HttpDeps } from './deps.ts';
export { BrowserSessions } from './edge/session.ts';
export { createHttpServer } from './server.ts';
