import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Loading } from './kit/states.tsx';
import { NotFound } from './pages/not-found.tsx';
import { Shell } from './shell/shell.tsx';

// Each page is a chunk of its own, loaded when it is first opened.

const root = createRootRoute({ notFoundComponent: NotFound });

const landing = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/landing.tsx'), 'Landing'),
});

const shell = createRoute({ getParentRoute: () => root, path: '/console', component: Shell });

// biome-ignore lint/suspicious/noExplicitAny: the library's own type of a lazily loaded component.
type Load = () => Promise<Record<string, any>>;

/** A page inside the shell, at a path below /console. */
function page(path: string, load: Load, name: string) {
  return createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(load, name) });
}

const operator = createRoute({
  getParentRoute: () => shell,
  path: 'admin',
  component: lazyRouteComponent(() => import('./pages/admin/gate.tsx'), 'OperatorGate'),
});

/** A page for operators, at a path below /console/admin. */
function operatorPage(path: string, load: Load, name: string) {
  return createRoute({ getParentRoute: () => operator, path, component: lazyRouteComponent(load, name) });
}

const pages = [
  page('/', () => import('./pages/overview/overview.tsx'), 'Overview'),
  page('activity', () => import('./pages/activity/activity.tsx'), 'Activity'),
  page('activity/$id', () => import('./pages/activity/request.tsx'), 'Request'),
  page('keys', () => import('./pages/keys/keys.tsx'), 'Keys'),
  page('credits', () => import('./pages/credits/credits.tsx'), 'CreditsPage'),
  page('apps', () => import('./pages/apps/apps.tsx'), 'Apps'),
  page('members', () => import('./pages/members/members.tsx'), 'Members'),
  page('profile', () => import('./pages/profile/profile.tsx'), 'Profile'),
  page('playground', () => import('./pages/playground/playground.tsx'), 'Playground'),
  page('models/$', () => import('./pages/models/model.tsx'), 'ModelPage'),
  page('jobs', () => import('./pages/jobs/jobs.tsx'), 'Jobs'),
  page('jobs/$id', () => import('./pages/jobs/job.tsx'), 'JobPage'),
  page('transcriptions', () => import('./pages/transcriptions/transcriptions.tsx'), 'Transcriptions'),
  page('transcriptions/$id', () => import('./pages/transcriptions/transcription.tsx'), 'TranscriptionPage'),
  page('files', () => import('./pages/files/files.tsx'), 'Files'),
];

const operatorPages = [
  operatorPage('/', () => import('./pages/admin/today/today.tsx'), 'Today'),
  operatorPage('accounts', () => import('./pages/admin/accounts/accounts.tsx'), 'Accounts'),
  operatorPage('accounts/$accountId', () => import('./pages/admin/accounts/account.tsx'), 'Account'),
  operatorPage('people', () => import('./pages/admin/people.tsx'), 'People'),
  operatorPage('upstreams', () => import('./pages/admin/upstreams/upstreams.tsx'), 'Upstreams'),
  operatorPage('configuration', () => import('./pages/admin/configuration/configuration.tsx'), 'Configuration'),
  operatorPage('configuration/models', () => import('./pages/admin/configuration/models.tsx'), 'ConfigModels'),
  operatorPage('configuration/versions', () => import('./pages/admin/configuration/versions.tsx'), 'ConfigVersions'),
  operatorPage(
    'configuration/versions/$version',
    () => import('./pages/admin/configuration/version.tsx'),
    'ConfigVersion',
  ),
  operatorPage('requests', () => import('./pages/admin/requests/requests.tsx'), 'Requests'),
  operatorPage('requests/$requestId', () => import('./pages/admin/requests/request.tsx'), 'Request'),
  operatorPage('jobs', () => import('./pages/admin/jobs/jobs.tsx'), 'Jobs'),
  operatorPage('jobs/$jobId', () => import('./pages/admin/jobs/job.tsx'), 'Job'),
  operatorPage('clients', () => import('./pages/admin/clients/clients.tsx'), 'Clients'),
  operatorPage('clients/$clientId', () => import('./pages/admin/clients/client.tsx'), 'Client'),
  operatorPage('audit', () => import('./pages/admin/audit.tsx'), 'Audit'),
  operatorPage('books', () => import('./pages/admin/books.tsx'), 'Books'),
];

export const router = createRouter({
  routeTree: root.addChildren([landing, shell.addChildren([...pages, operator.addChildren(operatorPages)])]),
  defaultPendingComponent: Loading,
  scrollRestoration: true,
});
