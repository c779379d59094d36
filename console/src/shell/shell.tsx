import { AppShell, Box, Burger, Group, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { SIGNED_OUT } from '../api/client.ts';
import type { SignedIn } from '../api/schema.ts';
import { isOperator, useSession } from '../api/session.ts';
import { Icon } from '../kit/icons.tsx';
import { Loading } from '../kit/states.tsx';
import { useSay } from '../text.tsx';
import { Balance } from './balance.tsx';
import { Brand } from './brand.tsx';
import { Controls } from './controls.tsx';
import { ACCOUNT_PLACES, nameKey, OPERATOR_PLACES, type Place } from './navigation.ts';
import { Offline } from './offline.tsx';

/** What a signed-in person has around every page: the menu, the balance and the account. */
export function Shell() {
  const session = useSession();
  const { pathname, href } = useLocation();
  const navigate = useNavigate();
  useSignOut(href, session !== null && session !== undefined);
  const isPublic = pathname.startsWith('/console/models');
  useEffect(() => {
    if (session === null && !isPublic) window.location.assign(`/sign-in?next=${encodeURIComponent(href)}`);
    // A person without an account has only what an operator has.
    else if (session?.account === null && pathname === '/console' && isOperator(session)) {
      void navigate({ to: '/console/admin' });
    }
  }, [session, isPublic, href, pathname, navigate]);
  if (session === undefined || (session === null && !isPublic)) return <Loading />;
  return session === null ? <Visitor /> : <Signed session={session} />;
}

function Signed({ session }: { readonly session: SignedIn }) {
  const say = useSay();
  const [isOpen, menu] = useDisclosure(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes.
  useEffect(() => menu.close(), [pathname]);
  return (
    <AppShell
      header={{ height: 62 }}
      navbar={{ width: 224, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip" href="#page">
        {say('shell.skip')}
      </a>
      <AppShell.Header>
        <div className="barrier" />
        <Group h={55} px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={menu.toggle} hiddenFrom="md" size="sm" aria-label={say('shell.menu')} />
            <Brand />
          </Group>
          <Group gap="sm" wrap="nowrap">
            {session.account !== null && <Balance />}
            <Controls session={session} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm">
        <ScrollArea>
          <nav aria-label={say('shell.menu')}>
            {session.account !== null && <Places places={ACCOUNT_PLACES} />}
            {isOperator(session) && (
              <>
                <Text size="xs" fw={600} className="soft" px={10} pt="md" pb={4}>
                  {say('shell.operator')}
                </Text>
                <Places places={OPERATOR_PLACES} />
              </>
            )}
          </nav>
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="page">
        <Offline />
        <Box maw={1180} mx="auto">
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </Box>
      </AppShell.Main>
    </AppShell>
  );
}

/** Public pages for those who are not signed in. */
function Visitor() {
  const say = useSay();
  return (
    <>
      <div className="barrier" />
      <Group component="header" px="md" py="sm" justify="space-between">
        <Brand />
        <Group component="nav" gap="sm" aria-label={say('shell.menu')}>
          <Link to="/console/models">{say('nav.models')}</Link>
          <a href="/sign-in">{say('shell.signIn')}</a>
          <Controls session={null} />
        </Group>
      </Group>
      <Box component="main" id="page" maw={1180} mx="auto" p={{ base: 'sm', sm: 'lg' }}>
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </Box>
    </>
  );
}

function Places({ places }: { readonly places: readonly Place[] }) {
  const say = useSay();
  return places.map((place) => (
    <Link
      key={place.to}
      to={place.to}
      className="nav-link"
      activeOptions={{ exact: place.to === '/console' || place.to === '/console/admin', includeSearch: false }}
    >
      <Icon name={place.name} />
      {say(nameKey(place))}
    </Link>
  ));
}

/** A session that ended elsewhere leads to the sign-in page, and from there back to this one. */
function useSignOut(href: string, isSignedIn: boolean): void {
  useEffect(() => {
    // A visitor's own question who is signed in is answered with the same refusal.
    if (!isSignedIn) return;
    const leave = () => window.location.assign(`/sign-in?next=${encodeURIComponent(href)}`);
    // Once: of calls that are refused together, each would break off the navigation that the one before began.
    window.addEventListener(SIGNED_OUT, leave, { once: true });
    return () => window.removeEventListener(SIGNED_OUT, leave);
  }, [href, isSignedIn]);
}
