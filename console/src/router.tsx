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

/** A page inside the shell, at a path below /console. */
// biome-ignore lint/suspicious/noExplicitAny: the library's own type of a lazily loaded component.
function page(path: string, load: () => Promise<Record<string, any>>, name: string) {
  return createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(load, name) });
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

export const router = createRouter({
  routeTree: root.addChildren([landing, shell.addChildren(pages)]),
  defaultPendingComponent: Loading,
  scrollRestoration: true,
});
