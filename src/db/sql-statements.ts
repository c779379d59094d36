const QUOTE = /^'(?:[^']|'')*'|^"[^"]*"/;
const DOLLAR = /^\$(\w*)\$/;

/** The statements of a migration in small letters and on one line each, without comments and without what is quoted. */
export function statementsOf(text: string): string[] {
  const statements: string[] = [];
  let current = '';
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const comment = /^--[^\n]*|^\/\*[\s\S]*?\*\//.exec(rest)?.[0];
    const quoted = QUOTE.exec(rest)?.[0] ?? dollarQuoted(rest);
    if (comment !== undefined) at += comment.length;
    else if (quoted !== undefined) {
      // An identifier is a name all the same; of a text only that there is one.
      current += quoted.startsWith('"') ? quoted : "''";
      at += quoted.length;
    } else if (text[at] === ';') {
      statements.push(current);
      current = '';
      at += 1;
    } else {
      current += text[at];
      at += 1;
    }
  }
  return [...statements, current].map((one) => one.replaceAll(/\s+/g, ' ').trim().toLowerCase()).filter(Boolean);
}

function dollarQuoted(rest: string): string | undefined {
  const tag = DOLLAR.exec(rest)?.[0];
  if (tag === undefined) return undefined;
  const end = rest.indexOf(tag, tag.length);
  return end === -1 ? rest : rest.slice(0, end + tag.length);
}

/** Splits at commas that stand in no parentheses. */
export function splitAtCommas(list: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const character of list) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}
