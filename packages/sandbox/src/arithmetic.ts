const EXPRESSION_CHARS_MAX = 200;

const SPOKEN: readonly (readonly [RegExp, string])[] = [
  [/(\d)\s*%\s*of\b|\bpercent\s+of\b/gi, '$1 / 100 *'],
  [/\bplus\b|\badded to\b/gi, '+'],
  [/\bminus\b/gi, '-'],
  [/\btimes\b|\bmultiplied by\b|×|·|(?<=[\d)]\s*)x(?=\s*[\d(])/gi, '*'],
  [/\bdivided by\b|÷/gi, '/'],
  [/\bto the power of\b|\*\*/gi, '^'],
  [/\bsquared\b/gi, '^ 2'],
  [/(?<=\d),(?=\d{3}\b)/g, ''],
];

/** "what is 12 * 7?" → "12 * 7 = 84". Undefined unless the text asks for the value of an expression. */
export function answerArithmetic(text: string): string | undefined {
  if (text.length > EXPRESSION_CHARS_MAX) return undefined;
  let question = text.replace(
    /^\W*(?:what(?:'s|’s| is)|how much is|calculate|compute|evaluate|solve|work out)\b:?/i,
    '',
  );
  question = question.replace(/[\s=?.!]+$/, '');
  for (const [spoken, sign] of SPOKEN) question = question.replace(spoken, sign);
  const expression = question.trim().replace(/\s+/g, ' ');
  // A date is no subtraction.
  if (/^\d{4}-\d\d-\d\d$/.test(expression)) return undefined;
  if (!/^[-\d(][-\d\s.+*/^()]*$/.test(expression) || !/[\d)]\s*[-+*/^]/.test(expression)) return undefined;
  const value = evaluate(expression);
  if (value === undefined) return undefined;
  if (!Number.isFinite(value)) return `${expression} has no finite value.`;
  return `${expression} = ${written(value)}`;
}

function written(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(12)));
}

/** The usual precedence; `^` binds to the right. Undefined if it is no expression. */
function evaluate(expression: string): number | undefined {
  const signs = expression.match(/\d+(?:\.\d+)?|\.\d+|\S/g) ?? [];
  let at = 0;

  const sum = (): number => {
    let value = product();
    while (signs[at] === '+' || signs[at] === '-') value = signs[at++] === '+' ? value + product() : value - product();
    return value;
  };
  const product = (): number => {
    let value = negation();
    while (signs[at] === '*' || signs[at] === '/')
      value = signs[at++] === '*' ? value * negation() : value / negation();
    return value;
  };
  const negation = (): number => {
    if (signs[at] !== '-') return power();
    at++;
    return -negation();
  };
  const power = (): number => {
    const value = atom();
    if (signs[at] !== '^') return value;
    at++;
    return value ** negation();
  };
  const atom = (): number => {
    const sign = signs[at++] ?? '';
    if (sign !== '(') return /^[\d.]+$/.test(sign) ? Number(sign) : Number.NaN;
    const value = sum();
    return signs[at++] === ')' ? value : Number.NaN;
  };

  const value = sum();
  return at === signs.length && !Number.isNaN(value) ? value : undefined;
}
