import { isEmail } from '../../addresses.ts';
import { type Html, html } from '../../html.ts';
import { EMAIL_CHARS_MAX, NAME_CHARS_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../limits.ts';
import { nameField } from '../contract/fields.ts';

/** What is wrong with a form, told beside the field that it is about. */
export type Problems = Readonly<Partial<Record<string, string>>>;

interface Field {
  /** Also its id. */
  readonly name: string;
  readonly label: string;
  readonly type?: string;
  readonly autocomplete: string;
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly problem?: string | undefined;
  readonly autofocus?: boolean;
  readonly readonly?: boolean;
  readonly charsMin?: number;
  readonly charsMax: number;
}

function field({ name, label, type = 'text', autocomplete, value, hint, problem, ...more }: Field): Html {
  // What is wrong says what was hinted at.
  const shownHint = problem === undefined ? hint : undefined;
  const described = [shownHint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ');
  return html`<label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${more.charsMax}"${more.charsMin !== undefined && html` minlength="${more.charsMin}"`}${value !== undefined && html` value="${value}"`}${described !== '' && html` aria-describedby="${described}"`}${problem !== undefined && html` aria-invalid="true"`}${(more.autofocus === true || problem !== undefined) && html` autofocus`}${more.readonly === true ? html` readonly` : html` required`}>${shownHint !== undefined && html`<p class="soft small" id="${name}-hint">${shownHint}</p>`}${problem !== undefined && html`<p class="problem small" id="${name}-problem" role="alert">${problem}</p>`}`;
}

export function emailInput(more: Partial<Field> = {}): Html {
  return field({
    name: 'email',
    label: 'Email',
    type: 'email',
    autocomplete: 'username',
    charsMax: EMAIL_CHARS_MAX,
    ...more,
  });
}

export function nameInput(more: Partial<Field> = {}): Html {
  return field({ name: 'name', label: 'Your name', autocomplete: 'name', charsMax: NAME_CHARS_MAX, ...more });
}

export function newPasswordInput(more: Partial<Field> = {}): Html {
  return field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${PASSWORD_CHARS_MIN} characters.`,
    charsMin: PASSWORD_CHARS_MIN,
    charsMax: PASSWORD_CHARS_MAX,
    ...more,
  });
}

export function currentPasswordInput(more: Partial<Field> = {}): Html {
  return field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    charsMax: PASSWORD_CHARS_MAX,
    ...more,
  });
}

/** For password managers, which file a password under the name beside it. */
export function ofPerson(email: string): Html {
  return html`<input class="away" name="username" type="email" autocomplete="username" value="${email}" tabindex="-1" aria-hidden="true" readonly>`;
}

/** Something about the form as a whole. */
export function note(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="note" role="alert">${problem}</p>`;
}

export function passwordProblem(password: string): string | undefined {
  if (password.length < PASSWORD_CHARS_MIN) return `A password has at least ${PASSWORD_CHARS_MIN} characters.`;
  return password.length > PASSWORD_CHARS_MAX ? `A password has at most ${PASSWORD_CHARS_MAX} characters.` : undefined;
}

export function nameProblem(name: string): string | undefined {
  return nameField.safeParse(name).success ? undefined : `Tell your name, in at most ${NAME_CHARS_MAX} characters.`;
}

export function emailProblem(email: string): string | undefined {
  return isEmail(email) ? undefined : 'This is not an email address.';
}

/** Without the problems that are none. */
export function problemsOf(all: Readonly<Record<string, string | undefined>>): Problems | undefined {
  return Object.values(all).some((problem) => problem !== undefined) ? all : undefined;
}
