import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import { listClients, type OauthClient, registerClient, removeClient } from '../../oauth/index.ts';
import { SCOPES } from '../../scopes.ts';
import { nameField, pageQuery } from '../fields.ts';
import type { HttpParts } from '../parts.ts';
import { listOf, page, type Routes } from '../route.ts';

const REDIRECT_URIS_MAX = 20;
const URI_CHARS_MAX = 2000;

const redirectUri = z
  .string()
  .max(URI_CHARS_MAX)
  .refine(isRedirectUri, { error: 'expected an https address, or http on a loopback host, without a fragment' });

const newClient = z.strictObject({
  name: nameField,
  redirect_uris: z.array(redirectUri).min(1).max(REDIRECT_URIS_MAX),
  scopes: z.array(z.enum(SCOPES)).min(1),
  confidential: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
});

const clientFields = z.strictObject({
  id: z.string(),
  object: z.literal('oauth_client'),
  name: z.string(),
  redirect_uris: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
  confidential: z.boolean(),
  created_at: z.int(),
});
const clientSchema = clientFields.meta({ id: 'OauthClient' });
const newClientSchema = clientFields.extend({ client_secret: z.string().optional() }).meta({ id: 'NewOauthClient' });
const deletedSchema = z.strictObject({ id: z.string(), object: z.literal('oauth_client'), deleted: z.literal(true) });

export function oauthClientAdminRoutes(routes: Routes, parts: HttpParts): void {
  routes.add(
    {
      method: 'POST',
      path: '/api/admin/oauth/clients',
      summary: 'Register a third-party application; its secret is shown this once',
      access: 'operator',
      body: { kind: 'json', schema: newClient, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: newClientSchema },
    },
    async ({ body, actor, reply }) => {
      const { client, secret } = await registerClient(parts, actor, {
        name: body.name,
        redirectUris: body.redirect_uris,
        scopes: body.scopes,
        confidential: body.confidential,
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
    ({ query }) => page(query.limit, (limit) => listClients(parts.db, limit, query.after), clientView),
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/admin/oauth/clients/{client_id}',
      summary: 'Remove an application',
      access: 'operator',
      answers: { 200: deletedSchema },
      codes: ['client_not_found'],
    },
    async ({ param, actor }) => {
      await removeClient(parts, actor, param('client_id'));
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
