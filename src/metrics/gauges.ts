import type { Backlog } from '../reports/index.ts';
import { type Figure, gauge, type Sample } from '../signals/index.ts';
import type { MetricsDeps } from './deps.ts';

/** What the database and the disk said last; undefined before the first reading, and while they cannot be read. */
export interface Reading {
  readonly backlog: Backlog | undefined;
  readonly disk: { readonly free: number; readonly size: number } | undefined;
}

/** Figures that are read where they are anyway, when they are asked for. */
export function gauges(deps: MetricsDeps, reading: () => Reading): readonly Figure[] {
  return [
    ...ofProcess(deps),
    ...ofReplica(deps),
    ...ofUpstreams(deps),
    ...ofDeployment(() => reading().backlog),
    ...ofDisk(reading),
  ];
}

function ofProcess({ db, bus, config, throttle, writeProbe, version }: MetricsDeps): readonly Figure[] {
  return [
    labelled(
      'tollgate_build_info',
      'Always 1; the labels tell the release and the runtime.',
      ['version', 'node'],
      () => [{ labels: [version, process.version], value: 1 }],
    ),
    labelled(
      'tollgate_processes',
      'Live processes of the deployment by what they do; one may do both.',
      ['role'],
      () => [
        { labels: ['serve'], value: bus.peers.serving + Number(config.role !== 'work') },
        { labels: ['work'], value: bus.peers.working + Number(config.role !== 'serve') },
      ],
    ),
    gauge('tollgate_limiter_shared', 'Whether rate limits are counted by all processes together.', () =>
      Number(throttle.status.counting === 'shared'),
    ),
    gauge('tollgate_limiter_degraded', 'Whether rate limits of several processes are not counted together.', () =>
      Number(
        throttle.status.counting !== 'shared' && (throttle.status.counting !== 'process' || bus.peers.serving > 0),
      ),
    ),
    counter('tollgate_limiter_outages_total', 'How often Redis went away.', () => throttle.status.outages),
    counter(
      'tollgate_limiter_decided_alone_total',
      'Requests that were admitted or refused without Redis because it was away.',
      () => throttle.status.decidedAlone,
    ),
    gauge('tollgate_database_reachable', 'Whether the last trial write reached the database.', () => {
      const { outcome } = writeProbe;
      return outcome && Number(outcome !== 'away');
    }),
    gauge('tollgate_database_writable', 'Whether the last trial write was taken.', () => {
      const { outcome } = writeProbe;
      return outcome && Number(outcome === 'written');
    }),
    counter(
      'tollgate_database_failovers_total',
      'How often another of several database servers came into use.',
      () => db.servers.failovers,
    ),
    gauge(
      'tollgate_database_stray_primaries',
      'Database servers beside the one in use that take writes; must be 0.',
      () => db.servers.strays,
    ),
    gauge('tollgate_db_pool_max', 'Connections that this process may open.', () => db.pool.max),
    labelled('tollgate_db_pool_connections', 'Connections of this process.', ['state'], () => [
      { labels: ['idle'], value: db.pool.idle },
      { labels: ['busy'], value: db.pool.open - db.pool.idle },
    ]),
    gauge('tollgate_db_pool_waiting', 'Statements and transactions that wait for a connection.', () => db.pool.waiting),
    counter(
      'tollgate_db_pool_waits_total',
      'Statements and transactions that had to wait for a connection.',
      () => db.pool.waits,
    ),
  ];
}

function counter(name: string, help: string, read: () => number): Figure {
  return { kind: 'counter', family: { name, help, labelNames: [] }, read: () => [{ labels: [], value: read() }] };
}

/** Nothing without a replica. */
function ofReplica({ reads }: MetricsDeps): readonly Figure[] {
  const lagSeconds = () => (reads.figures?.lagMs === undefined ? undefined : reads.figures.lagMs / 1000);
  return [
    gauge('tollgate_replica_lag_seconds', 'How far behind the replica was at most.', lagSeconds),
    {
      kind: 'counter',
      family: {
        name: 'tollgate_replica_reads_total',
        help: 'Statements of lists and reports by the server that answered: replica, or primary while the replica could not.',
        labelNames: ['server'],
      },
      read: () => {
        const { figures } = reads;
        if (figures === undefined) return [];
        return [
          { labels: ['replica'], value: figures.replica },
          { labels: ['primary'], value: figures.primary },
        ];
      },
    },
  ];
}

const WHOLE_UPSTREAM = '';
const BREAKER_VALUES = { closed: 0, half_open: 1, open: 2 } as const;

function ofUpstreams({ health, catalogue }: MetricsDeps): readonly Figure[] {
  const help =
    '0 closed, 1 half-open, 2 open. Without a model: the upstream as a whole, for its credential and balance.';
  return [
    labelled('tollgate_upstream_breaker_state', help, ['upstream', 'upstream_model'], () =>
      catalogue.snapshot.document.upstreams.flatMap(({ id }) =>
        [WHOLE_UPSTREAM, ...catalogue.snapshot.wireModels(id)].map((model) => ({
          labels: [id, model],
          value: BREAKER_VALUES[health.view(id, model).state],
        })),
      ),
    ),
    gauge(
      'tollgate_models_without_candidate',
      'Models whose callers are answered 503, because every upstream is failing.',
      () => health.modelsWithoutCandidate(catalogue.snapshot).length,
    ),
  ];
}

function ofDeployment(read: () => Backlog | undefined): readonly Figure[] {
  return [
    labelled('tollgate_jobs_open', 'Jobs of the deployment that have not ended.', ['kind', 'state'], () =>
      (read()?.jobs ?? []).map(({ kind, status, count }) => ({ labels: [kind, status], value: count })),
    ),
    gauge(
      'tollgate_jobs_oldest_due_seconds',
      'How long the job that is due longest waits to be taken.',
      () => read()?.oldestDueSeconds,
    ),
    gauge('tollgate_transcriptions_open', 'Transcriptions under way.', () => read()?.transcriptions),
    gauge(
      'tollgate_ledger_journal_lines',
      'Lines of the journal that are no entries yet, counted up to 10000.',
      () => read()?.journalLines,
    ),
    gauge(
      'tollgate_ledger_journal_age_seconds',
      'Age of the oldest line that is no entry yet.',
      () => read()?.oldestLineSeconds,
    ),
    gauge('tollgate_books_imbalance', 'Whether the last check of the books found a difference; must be 0.', () => {
      const books = read()?.books;
      return books && Number(!books.balanced);
    }),
    gauge(
      'tollgate_books_check_age_seconds',
      'How long ago the books were last checked.',
      () => read()?.books?.ageSeconds,
    ),
  ];
}

function ofDisk(reading: () => Reading): readonly Figure[] {
  const where = 'of the disk that holds the data folder';
  return [
    gauge('tollgate_disk_free_bytes', `Free room ${where}.`, () => reading().disk?.free),
    gauge('tollgate_disk_size_bytes', `Size ${where}.`, () => reading().disk?.size),
  ];
}

function labelled(name: string, help: string, labelNames: string[], read: () => readonly Sample[]): Figure {
  return { kind: 'gauge', family: { name, help, labelNames }, read };
}
