import { registerHooks } from 'node:module';

/** A change to one module's text, made when a gateway of a campaign loads it and nowhere else: a planted bug. */
export interface Edit {
  /** Under src. */
  readonly file: string;
  /** Must stand there exactly once. */
  readonly from: string;
  readonly to: string;
}

/** Modules with a planted bug are not read as they are written. To be called before they are loaded. */
export function applyEdits(edits: readonly Edit[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const mine = edits.filter(({ file }) => url.endsWith(`/src/${file}`));
      if (mine.length === 0) return loaded;
      const { source } = loaded;
      let text = typeof source === 'string' ? source : new TextDecoder().decode(source ?? undefined);
      for (const { file, from, to } of mine) {
        if (text.split(from).length !== 2) throw new Error(`a planted bug no longer fits ${file}: "${from}"`);
        text = text.replace(from, () => to);
      }
      return { ...loaded, source: text };
    },
  });
}
