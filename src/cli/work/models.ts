import { CommandError, type Invocation } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connect } from '../gateway/connect.ts';
import type { Connection } from '../gateway/connection.ts';
import { fields, print, table } from '../output.ts';

export interface Model {
  readonly id: string;
  readonly modality: string;
  readonly display_name: string;
  readonly description: string;
  readonly endpoints: readonly string[];
  readonly pricing: { readonly mode: string; readonly credits?: Readonly<Record<string, number>> };
}

/** The models that the caller can use, or one of them. */
export async function listModels(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const connection = connect(invocation);
  const [id] = operands;
  if (id !== undefined) {
    const model = await modelById(connection, id);
    print(options, model, () => describeModel(model));
    return EXIT.done;
  }
  const list = await connection.get<{ data: readonly Model[] }>('/v1/models');
  const rows = list.data.map((model) => [model.id, model.endpoints.join(','), priceOf(model)]);
  print(options, list, () => table(['model', 'for', 'credits'], rows));
  return EXIT.done;
}

function describeModel(model: Model): readonly string[] {
  return fields([
    ['model', model.id],
    ['name', model.display_name],
    ['for', model.endpoints.join(', ')],
    ['credits', priceOf(model)],
    ['about', model.description],
  ]);
}

function priceOf({ pricing: { mode, credits = {} } }: Model): string {
  const amounts = Object.entries(credits).map(([unit, amount]) => `${unit} ${amount}`);
  return `${mode}: ${amounts.join(', ')}`;
}

export function modelById(connection: Connection, id: string): Promise<Model> {
  return connection.get<Model>(`/v1/models/${id.split('/').map(encodeURIComponent).join('/')}`);
}

/** What --model names, else the first of the list that serves the endpoint. */
export async function modelFor(
  connection: Connection,
  options: Invocation['options'],
  endpoint: string,
): Promise<string> {
  if (options.model !== undefined) return options.model;
  const { data } = await connection.get<{ data: readonly Model[] }>('/v1/models');
  const model = data.find(({ endpoints }) => endpoints.includes(endpoint));
  if (model !== undefined) return model.id;
  throw new CommandError(`No model of ${connection.address} serves ${endpoint}.`, { exitCode: EXIT.notFound });
}
