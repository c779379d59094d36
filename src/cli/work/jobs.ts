import type { Invocation } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connect } from '../gateway/connect.ts';
import type { Connection } from '../gateway/connection.ts';
import { fields, moment, print, table } from '../output.ts';
import { downloadJob, type Job, requireSuccess, waitForJob } from './job.ts';

/** The jobs of the account, or one of them. */
export async function listJobs(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const connection = connect(invocation);
  const [id] = operands;
  if (id !== undefined) {
    const job = await connection.get<Job>(`/v1/jobs/${encodeURIComponent(id)}`);
    print(options, job, () => describeJob(job));
    return EXIT.done;
  }
  const { limit, status } = options;
  const list = await connection.get<{ data: readonly Job[] }>('/v1/jobs', { limit, status });
  print(options, list, () => table(['id', 'status', 'model', 'done', 'made', 'credits'], list.data.map(jobRow)));
  return EXIT.done;
}

function jobRow({ id, status, model, progress, created_at, usage }: Job) {
  return [id, status, model, `${progress} %`, moment(created_at), usage?.credits];
}

function describeJob(job: Job): readonly string[] {
  return fields([
    ['id', job.id],
    ['status', job.status],
    ['model', job.model],
    ['done', `${job.progress} %`],
    ['made', moment(job.created_at)],
    ['ended', moment(job.finished_at)],
    ['credits', job.usage?.credits],
    ...(job.error === undefined ? [] : [['error', `${job.error} (${job.error_code})`] as const]),
  ]);
}

/** Waits for a job that is there already. With -o it fetches what the job has made, too. */
export async function waitCommand(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const connection = connect(invocation);
  const job = await waitForJob(connection, operands[0] ?? '', options);
  if (options.output !== undefined) return finishJob(connection, job, invocation);
  requireSuccess(job);
  print(options, job, () => describeJob(job));
  return EXIT.done;
}

export async function downloadCommand(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const files = await downloadJob(connect(invocation), operands[0] ?? '', invocation);
  if (options.output !== '-') print(options, { files }, () => files);
  return EXIT.done;
}

/** Fetches the results of a job that has ended, and says what it cost. */
export async function finishJob(connection: Connection, job: Job, invocation: Invocation): Promise<number> {
  const { options } = invocation;
  requireSuccess(job);
  const files = await downloadJob(connection, job.id, invocation);
  // What was asked for on standard output is the result alone.
  if (options.output === '-') return EXIT.done;
  print(options, { ...job, files }, () =>
    files.map((name) => `${name}  ${job.usage?.credits ?? 0} credits  ${job.id}`),
  );
  return EXIT.done;
}
