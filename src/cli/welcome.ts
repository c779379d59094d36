import type { ListedModel } from '../catalogue/index.ts';
import type { Config } from '../config.ts';
import type { Endpoint } from '../configuration/index.ts';
import type { FirstSteps } from '../first-start.ts';

/** What a start tells at the terminal: where it answers, how to come by a key, and commands that work as they are. */
export function welcome(url: string, config: Config, steps: FirstSteps): string {
  const isKept = config.adminTokens.length === 0;
  const lines = [
    '',
    `Tollgate answers at ${url}`,
    ...(isKept ? [`The admin token is in ${config.dataFolder}/admin-token`] : []),
    ...(steps.signInLink === undefined ? [] : signInLines(`${config.publicUrl}/link/${steps.signInLink}`)),
    '',
    ...keyLines(url, isKept ? `$(cat '${config.dataFolder}/admin-token')` : `\${TOLLGATE_ADMIN_TOKEN%%,*}`, steps),
    '',
    ...trialLines(url, steps.models),
    '',
    'Ctrl-C stops it in order.',
  ];
  return lines.join('\n');
}

function signInLines(link: string): readonly string[] {
  return ['Sign in as the demo operator, once, within the hour:', `  ${link}`];
}

function keyLines(url: string, token: string, { key, account }: FirstSteps): readonly string[] {
  if (key !== undefined) return ['Your demo key, shown only now; paste this line:', `  export TOLLGATE_KEY=${key}`];
  const admin = (path: string, body: object) =>
    post(`${url}/api/admin/accounts${path}`, `"Authorization: Bearer ${token}"`, body);
  if (account !== undefined) {
    const name = JSON.stringify(account.name);
    return [`Another key for the account ${name}:`, admin(`/${account.id}/keys`, { name: 'another' })];
  }
  return [
    'There is no account yet. Make one, and with its id a grant of credits and a key:',
    admin('', { name: 'first' }),
    admin('/ACCOUNT_ID/grants', { credits: 1000 }),
    admin('/ACCOUNT_ID/keys', { name: 'first' }),
  ];
}

const TRIALS: readonly (readonly [endpoint: Endpoint, path: string, body: object, more?: string])[] = [
  ['chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'What is 12 * 7?' }] }],
  ['images', '/v1/images/generations', { prompt: 'a toll gate at sunrise' }],
  ['audio_speech', '/v1/audio/speech', { input: 'Good morning. The gate is open.' }, '-o speech.mp3'],
];

/** One command per kind of work that a model of the catalogue in force can do. */
function trialLines(url: string, models: readonly ListedModel[]): readonly string[] {
  if (models.length === 0) return NO_MODELS;
  const bearer = '"Authorization: Bearer $TOLLGATE_KEY"';
  const commands = TRIALS.flatMap(([endpoint, path, body, more]) => {
    const model = models.find(({ endpoints }) => endpoints.includes(endpoint));
    return model === undefined ? [] : [post(url + path, bearer, { model: model.id, ...body }, more)];
  });
  return ['Try it with a key in TOLLGATE_KEY:', `  curl ${url}/v1/models -H ${bearer}`, ...commands];
}

const NO_MODELS = [
  'No model can be called yet. Copy tollgate.example.yaml to tollgate.yaml, fit it to your upstreams, check it with',
  '"tollgate config check tollgate.yaml", and start again.',
];

/** For every curl: --json is younger than many that are in use. */
function post(url: string, header: string, body: object, more?: string): string {
  const json = JSON.stringify(body).replaceAll("'", "'\\''");
  const output = more === undefined ? '' : ` ${more}`;
  return `  curl ${url} -H ${header} -H "Content-Type: application/json"${output} -d '${json}'`;
}
