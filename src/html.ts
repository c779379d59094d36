/** Text that is markup already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

/** A template whose values are escaped unless they are markup themselves; nothing, null and false leave no trace. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, index) => text + string + markup(parts[index]), ''));
}

function markup(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  return part ? part.map(markup).join('') : '';
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '');
}
