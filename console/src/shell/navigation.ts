import type { IconName } from '../kit/icons.tsx';
import type { TextKey } from '../text.tsx';

/** One entry of the menu; the name is its icon and its text. */
export interface Place {
  readonly to: string;
  readonly name: IconName;
}

export const ACCOUNT_PLACES: readonly Place[] = [
  { to: '/console', name: 'overview' },
  { to: '/console/playground', name: 'playground' },
  { to: '/console/models', name: 'models' },
  { to: '/console/activity', name: 'activity' },
  { to: '/console/jobs', name: 'jobs' },
  { to: '/console/transcriptions', name: 'transcriptions' },
  { to: '/console/files', name: 'files' },
  { to: '/console/keys', name: 'keys' },
  { to: '/console/credits', name: 'credits' },
  { to: '/console/apps', name: 'apps' },
  { to: '/console/members', name: 'members' },
];

export const OPERATOR_PLACES: readonly Place[] = [
  { to: '/console/admin', name: 'today' },
  { to: '/console/admin/accounts', name: 'accounts' },
  { to: '/console/admin/people', name: 'people' },
  { to: '/console/admin/upstreams', name: 'upstreams' },
  { to: '/console/admin/configuration', name: 'configuration' },
  { to: '/console/admin/requests', name: 'activity' },
  { to: '/console/admin/jobs', name: 'jobs' },
  { to: '/console/admin/clients', name: 'clients' },
  { to: '/console/admin/audit', name: 'audit' },
  { to: '/console/admin/books', name: 'books' },
];

export function nameKey(place: Place): TextKey {
  return `nav.${place.name}`;
}
