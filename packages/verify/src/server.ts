// The database server of a campaign: an embedded one of its own, or the operator's, in which it makes databases of its own.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { NetConnectOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import type { Environment } from '../../../src/config.ts';
import { type DbAddress, openDb } from '../../../src/db/index.ts';
import { loadEmbeddedPostgres } from '../../../src/packages.ts';
import { StartError } from '../../../src/start-error.ts';

/** What a campaign can do to a deployment beside killing its gateways. */
export interface Means {
  readonly proxiesDatabase: boolean;
  readonly boundsDisk: boolean;
  /** The limiter of the gateways, reached through a proxy. */
  readonly redisUrl: string | undefined;
}

/** How the database of a world is reached. */
interface Place {
  readonly address: DbAddress;
  readonly url: string;
}

/** A server for any number of worlds. */
export interface Server {
  readonly folder: string;
  /** What every gateway's settings begin with. */
  readonly environment: Environment;
  readonly means: Means;
  makeDatabase(name: string): Promise<Place>;
  /** The process id of a server that the campaign may kill, because it has started it. */
  readonly postmaster?: () => Promise<number>;
  stop(): Promise<void>;
}

export interface EmbeddedServer extends Server {
  readonly postgres: EmbeddedPostgres;
}

const log = pino({ level: 'silent' });
const NO_MEANS: Means = { proxiesDatabase: false, boundsDisk: false, redisUrl: undefined };

/** `environment` has the path and, where there is one, the compile cache of the gateways. */
export async function startServer(environment: Environment, means: Means = NO_MEANS): Promise<EmbeddedServer> {
  const { startEmbeddedPostgres } = await loadEmbeddedPostgres();
  const folder = await campaignFolder();
  // What the server has written survives its own death, if not the machine's.
  const settings = { fsync: 'off' };
  const postgres = await startEmbeddedPostgres({ folder, log, progress: () => undefined, settings });
  const { connection } = postgres;
  return {
    folder,
    postgres,
    means,
    environment: gatewayEnvironment(environment, folder),
    makeDatabase: async (name) => {
      await create(connection, name);
      const { host, port, user } = connection;
      const url = `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
      return { address: { ...connection, database: name }, url };
    },
    postmaster: async () => Number.parseInt(await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10),
    stop: async () => {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The operator's server: every world has a database of its own there, which goes in the end. Nothing else is touched. */
export async function openServer(url: string, environment: Environment, means: Means): Promise<Server> {
  const folder = await campaignFolder();
  const run = randomBytes(4).toString('hex');
  const made: string[] = [];
  return {
    folder,
    means,
    environment: gatewayEnvironment(environment, folder),
    makeDatabase: async (name) => {
      const own = `tollgate_verify_${run}_${name}`;
      await create({ url }, own);
      made.push(own);
      const address = { url: withDatabaseName(url, own) };
      return { address, url: address.url };
    },
    stop: async () => {
      const db = openDb({ url }, log);
      for (const name of made) await db.run(`drop database if exists ${name} with (force)`);
      await db.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function campaignFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'tollgate-chaos-'));
}

function gatewayEnvironment({ PATH, NODE_COMPILE_CACHE }: Environment, folder: string): Environment {
  return { PATH, NODE_COMPILE_CACHE: NODE_COMPILE_CACHE ?? join(folder, 'compiled') };
}

async function create(address: DbAddress, name: string): Promise<void> {
  const db = openDb(address, log);
  try {
    await db.run(`create database ${name} template template0`);
  } catch (error) {
    const isForbidden = error instanceof Error && 'code' in error && error.code === '42501';
    if (!isForbidden) throw error;
    throw new StartError(
      'The role in DATABASE_URL may not make databases, and a campaign works in one of its own only: run ' +
        '"alter role NAME createdb", or name a server where it may.',
    );
  } finally {
    await db.close();
  }
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(\/[^?]*)?(?:\?(.*))?$/;

function withDatabaseName(url: string, name: string): string {
  const [, head = '', hosts = '', , query] = URL_PARTS.exec(url) ?? [];
  return `${head}${hosts}/${name}${query === undefined ? '' : `?${query}`}`;
}

/** Where a proxy leads that stands for this address; undefined with TLS, whose name would not fit, or several hosts. */
export function proxyTarget(url: string): NetConnectOpts | undefined {
  const [, , hosts = '', , query] = URL_PARTS.exec(url) ?? [];
  const settings = new URLSearchParams(query);
  const mode = settings.get('sslmode') ?? 'disable';
  const [host = '', port = settings.get('port') ?? '5432'] = hosts.split(':');
  const place = settings.get('host') ?? decodeURIComponent(host);
  if (mode !== 'disable' || hosts.includes(',') || place.includes(',') || hosts.startsWith('[')) return undefined;
  if (place.startsWith('/')) return { path: join(place, `.s.PGSQL.${port}`) };
  return { host: place || '127.0.0.1', port: Number(port) };
}

/** The same database behind a proxy on a port of this machine. */
export function withProxy(url: string, port: number): string {
  const [, head = '', , path = '', query] = URL_PARTS.exec(url) ?? [];
  const settings = new URLSearchParams(query);
  for (const name of ['host', 'port']) settings.delete(name);
  return `${head}127.0.0.1:${port}${path}${settings.size === 0 ? '' : `?${settings.toString()}`}`;
}
