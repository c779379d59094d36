import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import {
  type ClientChange,
  findClient,
  listClients,
  type OauthClient,
  registerClient,
  removeClient,
  updateClient,
} from '../../oauth/index.ts';
import { SCOPES } from '../../scopes.ts';
import { nameField, pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';

const REDIRECT_URIS_MAX = 20;
const URI_CHARS_MAX = 2000;

const redirectUri = z
  .string()
  .max(URI_CHARS_MAX)
  .refine(isRedirectUri, { error: 'expected an https address, or http on a loopback host, without a fragment' });

const webAddress = z
  .string()
  .max(URI_CHARS_MAX)
  .refine((text) => isRedirectUri(text) && text.startsWith('https:'), { error: 'expected an https address' });

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

const newClient = z.strictObject({
  name: nameField,
  redirect_uris: z.array(redirectUri).min(1).max(REDIRECT_URIS_MAX),
  scopes: z.array(z.enum(SCOPES)).min(1),
  confidential: flag,
  home_page: webAddress.nullish(),
  logo: webAddress.nullish(),
  device_flow: flag,
  introspection: flag,
});

const changedClient = z
  .strictObject({
    name: nameField,
    redirect_uris: z.array(redirectUri).min(1).max(REDIRECT_URIS_MAX),
    scopes: z.array(z.enum(SCOPES)).min(1),
    home_page: webAddress.nullable(),
    logo: webAddress.nullable(),
    device_flow: z.boolean(),
    introspection: z.boolean(),
  })
  .partial();

const clientFields = z.strictObject({
  id: z.string(),
  object: z.literal('oauth_client'),
  name: z.string(),
  redirect_uris: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
  confidential: z.boolean(),
  home_page: z.string().nullable(),
  logo: z.string().nullable(),
  device_flow: z.boolean(),
  introspection: z.boolean(),
  created_at: z.int(),
});
const clientSchema = clientFields.meta({ id: 'OauthClient' });
const newClientSchema = clientFields.extend({ client_secret: z.string().optional() }).meta({ id: 'NewOauthClient' });
const deletedSchema = z.strictObject({ id: z.string(), object: z.literal('oauth_client'), deleted: z.literal(true) });

export function oauthClientAdminRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/api/admin/oauth/clients',
      summary: 'Register a third-party application; its secret is shown this once',
      access: 'operator',
      example: { name: 'My app', redirect_uris: ['http://127.0.0.1/callback'], scopes: ['user:inference:image'] },
      body: { kind: 'json', schema: newClient, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: newClientSchema },
    },
    async ({ body, actor, reply }) => {
      const { client, secret } = await registerClient(deps, actor, {
        name: body.name,
        redirectUris: body.redirect_uris,
        scopes: body.scopes,
        confidential: body.confidential,
        homePage: body.home_page ?? null,
        logo: body.logo ?? null,
        deviceFlow: body.device_flow,
        introspection: body.introspection,
      });
      reply.header('cache-control', 'no-store');
      return secret === undefined ? clientView(client) : { ...clientView(client), client_secret: secret };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/oauth/clients',
      summary: 'The registered applications, newest first',
      access: 'operator',
      query: pageQuery,
      answers: { 200: listOf(clientSchema) },
    },
    ({ query }) => page(query.limit, (limit) => listClients(deps.db, limit, query.after), clientView),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/oauth/clients/{client_id}',
      summary: 'One application',
      access: 'operator',
      answers: { 200: clientSchema },
      codes: ['client_not_found'],
    },
    async ({ param }) => {
      const client = await findClient(deps.db, param('client_id'));
      if (client === undefined) throw new ApiError('client_not_found');
      return clientView(client);
    },
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/oauth/clients/{client_id}',
      summary: 'Change what is registered of an application; what is not named stays',
      access: 'operator',
      body: { kind: 'json', schema: changedClient, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: clientSchema },
      codes: ['client_not_found'],
    },
    async ({ body, param, actor }) => {
      const { redirect_uris, home_page, device_flow, ...same } = body;
      const change: ClientChange = {
        ...same,
        redirectUris: redirect_uris,
        homePage: home_page,
        deviceFlow: device_flow,
      };
      return clientView(await updateClient(deps, actor, param('client_id'), change));
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/admin/oauth/clients/{client_id}',
      summary: 'Remove an application, with every grant to it',
      access: 'operator',
      answers: { 200: deletedSchema },
      codes: ['client_not_found'],
    },
    async ({ param, actor }) => {
      await removeClient(deps, actor, param('client_id'));
      return { id: param('client_id'), object: 'oauth_client', deleted: true };
    },
  );
}

function clientView(client: OauthClient) {
  return {
    id: client.id,
    object: 'oauth_client',
    name: client.name,
    redirect_uris: client.redirectUris,
    scopes: client.scopes,
    confidential: client.confidential,
    home_page: client.homePage,
    logo: client.logo,
    device_flow: client.deviceFlow,
    introspection: client.introspection,
    created_at: unixSeconds(client.createdAt),
  };
}

/** Redirect addresses are compared letter by letter, so nothing is taken that a URL parser would first put right. */
function isRedirectUri(text: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(text) || /[#\\]/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  return username === '' && password === '' && (protocol === 'https:' || isLoopback);
}
