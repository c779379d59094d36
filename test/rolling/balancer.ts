// A load balancer of connections, as a Kubernetes service is: it asks each process whether it is ready, and gives a new
// connection to one that was. Connections that are open stay where they are.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { request } from 'undici';

const PROBE_EVERY_MS = 100;
const PROBE_MS_MAX = 2_000;

export interface Backend {
  readonly url: string;
}

export class Balancer {
  readonly #server: Server;
  readonly #ready = new Map<Backend, number>();
  readonly #backends = new Set<Backend>();
  readonly #timer: NodeJS.Timeout;
  /** Connections that found no process that was ready. */
  refused = 0;

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#timer = setInterval(() => void this.#probeAll(), PROBE_EVERY_MS);
  }

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    await once(balancer.#server.listen(0, '127.0.0.1'), 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves once it is ready, and gets connections from then on. */
  async add(backend: Backend): Promise<void> {
    this.#backends.add(backend);
    while (!this.#ready.has(backend)) await this.#probe(backend);
  }

  /** It is probed no more; what it has open goes on. */
  remove(backend: Backend): void {
    this.#backends.delete(backend);
    this.#ready.delete(backend);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #probeAll(): Promise<void> {
    await Promise.all([...this.#backends].map((backend) => this.#probe(backend)));
  }

  async #probe(backend: Backend): Promise<void> {
    const isReady = await probeOnce(backend);
    if (!isReady || !this.#backends.has(backend)) this.#ready.delete(backend);
    else if (!this.#ready.has(backend)) this.#ready.set(backend, 0);
  }

  #accept(socket: Socket): void {
    const [chosen] = [...this.#ready].sort(([, one], [, other]) => one - other);
    if (chosen === undefined) {
      this.refused += 1;
      socket.destroy();
      return;
    }
    const [backend] = chosen;
    const { hostname, port } = new URL(backend.url);
    this.#count(backend, 1);
    const inner = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    inner.once('close', () => this.#count(backend, -1));
    for (const [one, other] of [
      [socket, inner],
      [inner, socket],
    ] as const) {
      one.setNoDelay();
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  }

  #count(backend: Backend, change: number): void {
    const count = this.#ready.get(backend);
    if (count !== undefined) this.#ready.set(backend, Math.max(0, count + change));
  }
}

async function probeOnce({ url }: Backend): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`, { reset: true, headersTimeout: PROBE_MS_MAX });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
