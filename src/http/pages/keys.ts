import { type AccountDeps, type ApiKey, createKey, deleteKey, listKeys } from '../../accounts/index.ts';
import { ApiError } from '../../errors.ts';
import { type Html, html } from '../../html.ts';
import { LIVE_KEYS_PER_ACCOUNT_MAX, NAME_CHARS_MAX } from '../../limits.ts';
import { sessions } from '../../people/index.ts';
import { nameField } from '../contract/fields.ts';
import type { BrowserSessions } from '../edge/session.ts';
import type { PageAnswer, PageCall, Pages } from './pages.ts';

/** The account's API keys: made, shown once, and deleted without a script. */
export function keyPages(pages: Pages, deps: AccountDeps, browser: BrowserSessions): void {
  pages.get('/keys', async ({ request }) => {
    const signedIn = await browser.find(request);
    if (signedIn === undefined) return { goTo: '/sign-in?next=/keys' };
    return list(signedIn);
  });

  pages.post('/keys', async (call) => {
    const { signedIn, accountId, actor } = await formSender(call);
    const name = nameField.safeParse(call.form.get('name'));
    if (!name.success) return list(signedIn, html`<p class="note" role="alert">Give the key a name.</p>`, 400);
    const settings = { groups: null, rpm: null, concurrency: null, creditLimit: null, creditLimitReset: null };
    const { secret } = await createKey(deps, actor, accountId, { ...settings, name: name.data, expiresAt: null });
    return list(
      signedIn,
      html`<p class="note">This is the key. It is shown this once and kept nowhere:<br><code class="secret">${secret}</code></p>`,
    );
  });

  pages.post('/keys/:key_id/delete', async (call) => {
    const { accountId, actor } = await formSender(call);
    await deleteKey(deps, actor, { id: call.param('key_id'), accountId });
    return { goTo: '/keys' };
  });

  /** The person who sent the form, who may make keys. */
  async function formSender({ request, form }: PageCall) {
    const signedIn = await browser.requireForm(request, form);
    const { membership, person } = signedIn;
    if (membership === undefined) throw new ApiError('no_account');
    if (!sessions.isAtLeast(membership.role, 'member')) throw new ApiError('insufficient_role');
    return { signedIn, accountId: membership.accountId, actor: { name: person.email, requestId: request.id } };
  }

  async function list(signedIn: sessions.SignedIn, top?: Html, status = 200): Promise<PageAnswer> {
    const { membership } = signedIn;
    if (membership === undefined) throw new ApiError('no_account');
    const keys = await listKeys(deps.db, membership.accountId, { limit: LIVE_KEYS_PER_ACCOUNT_MAX, after: undefined });
    const csrf = html`<input type="hidden" name="csrf" value="${browser.csrfToken(signedIn)}">`;
    const mayChange = sessions.isAtLeast(membership.role, 'member');
    const body = html`<h1>API keys</h1><p class="soft">of ${membership.accountName}</p>${top}
${mayChange && html`<form method="post" action="/keys">${csrf}<label for="name">Name</label><input id="name" name="name" maxlength="${NAME_CHARS_MAX}" required><button>Make a key</button></form>`}
<ul>${keys.map((key) => row(key, mayChange && csrf))}</ul><p class="soft small below"><a href="/">Back</a></p>`;
    return { title: 'API keys', body, status };
  }
}

function row(key: ApiKey, csrf: Html | false): Html {
  const used = key.lastUsedAt === null ? 'never used' : `last used ${key.lastUsedAt.toISOString().slice(0, 10)}`;
  return html`<li class="row"><span>${key.name}<br><span class="soft small"><code>sk-tg1-${key.prefix}…</code> · ${used}${key.disabled && ' · disabled'}</span></span>
${csrf && html`<form method="post" action="/keys/${key.id}/delete">${csrf}<button class="plain">Delete</button></form>`}</li>`;
}
