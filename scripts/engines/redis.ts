import { once } from 'node:events';
import { connect } from 'node:net';
import { freePorts } from '../free-ports.ts';
import { EngineServer } from './server.ts';

export interface Redis {
  readonly port: number;
  readonly url: string;
  readonly server: EngineServer;
}

/** A `redis-server` on a free port of this machine, that keeps nothing on disk: a restart begins with empty memory. */
export async function startRedis(...args: readonly string[]): Promise<Redis> {
  const [port = 0] = await freePorts(1);
  const server = await EngineServer.start({
    name: 'redis',
    program: 'redis-server',
    args: ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...args],
    isReady: async () => /^(?:\+PONG|-NOAUTH)/.test(await sendRedis(port, 'PING')),
  });
  return { port, url: `redis://127.0.0.1:${port}`, server };
}

/** One inline command without a client. Resolves to the first bytes of the reply as they came. */
export async function sendRedis(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setTimeout(1_000, () => socket.destroy(new Error('no reply')));
  try {
    await once(socket, 'connect');
    socket.write(`${command}\r\n`);
    const [reply] = await once(socket, 'data');
    return String(reply);
  } finally {
    socket.destroy();
  }
}
