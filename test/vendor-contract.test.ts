import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type Fault, UpstreamError } from '../src/errors.ts';
import type { VendorContract } from '../src/vendors/emulator/contract.ts';
import { loadVendor, type Upstream, UpstreamPools, type Vendor } from '../src/vendors/index.ts';
import { contract as acmeContract } from './support/acme/contract.ts';
import { acme } from './support/acme/index.ts';
import { loadedVendors } from './support/loaded-vendors.ts';
import { vendorContracts } from './support/vendor-contracts.ts';
import { type AnswerForm, KINDS_OF_WORK, type KindOfWork } from './support/vendor-work.ts';

// Every vendor, every kind of work, every way to fail: what comes out is held to the fault tables.

/** What a status means by itself. Written down a second time on purpose: it is a promise to operators. */
const STATUSES: readonly (readonly [status: number, fault: Fault])[] = [
  [301, 'garbled'],
  [400, 'client'],
  [401, 'account'],
  [402, 'account'],
  [403, 'account'],
  [404, 'config'],
  [408, 'timeout'],
  [409, 'server'],
  [413, 'unfit'],
  [415, 'unfit'],
  [418, 'garbled'],
  [422, 'client'],
  [425, 'server'],
  [429, 'rate'],
  [499, 'server'],
  ...[500, 502, 503, 504, 529].map((status) => [status, 'server'] as const),
];

const contracts = new Map([...vendorContracts, ['acme', acmeContract]]);

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
/** What each call gets, by the key that it carries: vendors differ in where they carry it. */
const serving = new Map<string, Serve>();
const pools = new UpstreamPools();
before(async () => {
  server = createServer((request, response) => {
    request.on('error', () => undefined).resume();
    response.on('error', () => undefined);
    const [key = ''] = /contract-key-\d+/.exec(JSON.stringify(request.headers)) ?? [];
    serving.get(key)?.(request, response);
  });
  // A call that is sent while the server closes an idle connection would be told as a cut one.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.unref().listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await pools.close();
  server.closeAllConnections();
  server.close();
});

function upstreamFor({ address }: Vendor, next: Serve, timeoutMs: number): Upstream {
  const apiKey = `contract-key-${serving.size}`;
  serving.set(apiKey, next);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  return {
    model: 'm',
    address: address === 'versioned' ? `${origin}/v1` : origin,
    apiKey,
    timeoutMs,
    signal,
    pools,
  };
}

interface Outcome {
  readonly fault: Fault | 'lost' | 'none';
  readonly isUncertain?: boolean;
}

const FAULT_OF_CODE = { upstream_rejected: 'client', content_rejected: 'policy', upstream_failed: 'server' } as const;

/** What becomes of one call. A task that failed is told by its code, in which most faults are one. */
async function outcomeOf(vendor: Vendor, work: KindOfWork, next: Serve, timeoutMs = 30_000): Promise<Outcome> {
  try {
    const result = await work.of(vendor)?.(upstreamFor(vendor, next, timeoutMs));
    const { state, code } = (result ?? {}) as { state?: string; code?: keyof typeof FAULT_OF_CODE };
    if (state === 'failed' && code !== undefined) return { fault: FAULT_OF_CODE[code] };
    return { fault: state === 'lost' ? 'lost' : 'none' };
  } catch (error) {
    assert.ok(error instanceof UpstreamError, `${vendor.name}: ${String(error)}`);
    return { fault: error.fault, isUncertain: error.isUncertain };
  }
}

function answering(status: number, type: string, body: string | Buffer): Serve {
  return (_request, response) => response.writeHead(status, { 'content-type': type }).end(body);
}

const json = (status: number, body: object) => answering(status, 'application/json', JSON.stringify(body));

/** The beginning of an answer of each form. */
const BEGINNINGS: Readonly<Record<AnswerForm, readonly [type: string, start: string]>> = {
  document: ['application/json', '{"id": "t", "text": "on'],
  transcript: ['application/json', '{"id": "t", "text": "on'],
  task: ['application/json', '{"id": "t", "status": "on'],
  events: ['text/event-stream', 'data: {"id": "on'],
  sound: ['audio/mpeg', 'ID3\u0004'],
};

interface WireFault {
  readonly name: string;
  readonly fault: Fault;
  readonly timeoutMs?: number;
  readonly not?: readonly AnswerForm[];
  readonly serve: (form: AnswerForm, stream?: VendorContract['stream']) => Serve;
}

const WIRE_FAULTS: readonly WireFault[] = [
  {
    name: 'a connection cut before the answer',
    fault: 'connection',
    serve: () => (request) => request.socket.resetAndDestroy(),
  },
  {
    name: 'a connection cut in the headers',
    fault: 'connection',
    serve: () => (request) => request.socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
  },
  {
    name: 'a connection cut in the body',
    fault: 'connection',
    serve: (form, stream) => begin(form, (response) => response.socket?.resetAndDestroy(), stream),
  },
  { name: 'what is not HTTP', fault: 'connection', serve: () => (request) => request.socket.end('Good day.\r\n\r\n') },
  { name: 'silence', fault: 'timeout', timeoutMs: 50, serve: () => () => undefined },
  {
    name: 'silence in the body',
    fault: 'timeout',
    timeoutMs: 50,
    serve: (form, stream) => begin(form, () => undefined, stream),
  },
  {
    name: 'garbled JSON',
    fault: 'garbled',
    not: ['events'],
    serve: () => answering(200, 'application/json', '{"id": '),
  },
  {
    name: 'a garbled event',
    fault: 'garbled',
    not: ['document', 'transcript', 'task', 'sound'],
    serve: () => answering(200, 'text/event-stream', 'data: {"id": \n\n'),
  },
  { name: 'a page', fault: 'garbled', serve: () => answering(200, 'text/html', '<html>marker</html>') },
  { name: 'a list', fault: 'garbled', serve: () => answering(200, 'application/json', '[1]') },
  {
    name: 'an answer without an end',
    fault: 'garbled',
    not: ['sound'],
    serve: (form, stream) => endless(form, stream),
  },
];

function begin(form: AnswerForm, next: (response: ServerResponse) => void, stream?: VendorContract['stream']): Serve {
  const [type, start] = (form === 'events' ? stream : undefined) ?? BEGINNINGS[form];
  return (_request, response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': 1_000_000 });
    response.write(start, () => next(response));
  };
}

const MIB_OF_TEXT = Buffer.alloc(1024 * 1024, 'x');

function endless(form: AnswerForm, stream?: VendorContract['stream']): Serve {
  const [type, start] = (form === 'events' ? stream : undefined) ?? BEGINNINGS[form];
  return (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(MIB_OF_TEXT));
    };
    response.writeHead(200, { 'content-type': type }).on('drain', more).write(start, more);
  };
}

/** A task that an upstream does not know is lost, or has failed. */
function expected(fault: Fault, form: AnswerForm): readonly Outcome['fault'][] {
  return form === 'task' && fault === 'config' ? ['config', 'lost', 'server'] : [fault];
}

test('every vendor that is asked over the network is under the contract', () => {
  const names = loadedVendors.filter(({ address }) => address !== 'none').map(({ name }) => name);
  assert.deepEqual([...contracts.keys()].sort(), [...names, 'acme'].sort());
});

for (const vendor of [...loadedVendors, await loadVendor(acme)]) {
  const contract = contracts.get(vendor.name);
  if (contract === undefined) continue;
  describe(`vendor ${vendor.name}`, { concurrency: 4 }, () => {
    for (const work of KINDS_OF_WORK.filter((each) => each.of(vendor) !== undefined)) {
      const { kind, form } = work;

      test(`${kind}: every status is the fault of the table, and a certain refusal`, async () => {
        for (const [status, fault] of new Map([...STATUSES, ...(contract.statuses ?? [])])) {
          for (const body of ['', '{}']) {
            const outcome = await outcomeOf(vendor, work, answering(status, 'application/json', body));
            assert.ok(expected(fault, form).includes(outcome.fault), `${status} is ${outcome.fault}`);
            assert.ok(outcome.isUncertain !== true, `${status} is uncertain`);
          }
        }
      });

      test(`${kind}: every code of the vendor is the fault of the table, whatever the status`, async () => {
        for (const [code, fault] of contract.wire.faults.codes) {
          for (const status of [400, 422]) {
            const outcome = await outcomeOf(vendor, work, json(status, contract.refusal(code)));
            const known = form === 'task' ? [fault, taskFault(fault)] : [fault];
            assert.ok(known.includes(outcome.fault as Fault), `${code} with ${status} is ${outcome.fault}`);
          }
        }
      });

      test(`${kind}: an error inside a success is the fault of the table where the vendor tells errors so`, async () => {
        for (const [code, fault] of contract.isErrorInSuccess ? contract.wire.faults.codes : []) {
          const outcome = await outcomeOf(vendor, work, json(200, contract.refusal(code)));
          const isLost: boolean = form === 'task' && contract.lost === code;
          assert.deepEqual(outcome, isLost ? { fault: 'server' } : { fault, isUncertain: false }, code);
        }
      });

      for (const { name, fault, timeoutMs, not = [], serve: next } of WIRE_FAULTS) {
        if (not.includes(form)) continue;
        test(`${kind}: ${name} is ${fault}`, async () => {
          const outcome = await outcomeOf(vendor, work, next(form, contract.stream), timeoutMs);
          assert.equal(outcome.fault, fault);
        });
      }
    }
  });
}

/** A task that failed has one code for all faults that are nobody's but the upstream's. */
function taskFault(fault: Fault): Fault {
  return fault === 'client' || fault === 'policy' ? fault : 'server';
}
