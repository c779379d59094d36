import { isHttpUrl } from './addresses.ts';
import type { Secret, Settings } from './settings.ts';

/**
 * The identities that a cloud gives to this process, under the names that the clouds themselves use. What AWS gives is
 * read by its own library.
 */
export interface CloudSettings {
  /** `host` or `host:port` besides the clouds' own that may be sent what such an identity is good for. */
  readonly hosts: readonly string[];
  readonly entra: EntraIdentity;
  readonly google: GoogleIdentity;
}

interface EntraIdentity {
  readonly tenantId?: string | undefined;
  readonly clientId?: string | undefined;
  /** A file that the cluster renews; it is read again for each token. */
  readonly tokenFile?: string | undefined;
  readonly authority?: string | undefined;
  /** Where a web app's own identity is asked for, and the secret header that belongs to it. */
  readonly identityEndpoint?: string | undefined;
  readonly identityHeader?: Secret | undefined;
}

interface GoogleIdentity {
  /** A key of a service account, or the terms of a workload identity federation. */
  readonly credentialsFile?: string | undefined;
  /** `host` or `host:port` of the metadata server. */
  readonly metadataHost?: string | undefined;
}

export const NO_CLOUD: CloudSettings = { hosts: [], entra: {}, google: {} };

export function cloudSettings(settings: Settings): CloudSettings {
  return {
    hosts: settings.list('TOLLGATE_CLOUD_HOSTS', 'entries host or host:port', (item) => /^[^\s/@]+$/.test(item)),
    entra: {
      tenantId: settings.optional('AZURE_TENANT_ID'),
      clientId: settings.optional('AZURE_CLIENT_ID'),
      tokenFile: settings.optional('AZURE_FEDERATED_TOKEN_FILE'),
      authority: address(settings, 'AZURE_AUTHORITY_HOST'),
      identityEndpoint: address(settings, 'IDENTITY_ENDPOINT'),
      identityHeader: settings.secret('IDENTITY_HEADER'),
    },
    google: {
      credentialsFile: settings.optional('GOOGLE_APPLICATION_CREDENTIALS'),
      metadataHost: settings.optional('GCE_METADATA_HOST'),
    },
  };
}

function address(settings: Settings, name: string): string | undefined {
  const value = settings.optional(name);
  if (value !== undefined && !isHttpUrl(value)) settings.complain(name, 'must be an http or https address');
  return value;
}
