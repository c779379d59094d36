import type { ConfigDocument } from '../../configuration/index.ts';
import { didYouMean } from '../../nearest.ts';
import { CommandError } from '../command.ts';

/** By the id of a model, the row that the operator names for it; '' is the one that is found. */
export type ChosenModels = ReadonlyMap<string, string>;

/** All models, or those of a list such as `house/writer,house/voice=ROW`. Throws CommandError for one that is not there. */
export function chosenModels({ models }: ConfigDocument, list: string | undefined): ChosenModels {
  const ids = models.map(({ id }) => id);
  if (list === undefined) return new Map(ids.map((id) => [id, '']));
  return new Map(
    list.split(',').map((item) => {
      const [id = '', ...row] = item.trim().split('=');
      if (ids.includes(id)) return [id, row.join('=')];
      throw new CommandError(`The configuration has no model "${id}"${didYouMean(id, ids) || '.'}`);
    }),
  );
}
