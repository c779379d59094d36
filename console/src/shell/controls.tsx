import { ActionIcon, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import type { SignedIn } from '../api/schema.ts';
import { Icon } from '../kit/icons.tsx';
import { LANGUAGES, type Language, useText } from '../text.tsx';

/** The person's menu: account, profile, language, light or dark, and the way out. */
export function Controls({ session }: { readonly session: SignedIn | null }) {
  const { say, language, choose } = useText();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const client = useQueryClient();
  const work = useMutation({
    mutationFn: (account_id: string) => api('/api/console/session', { method: 'PATCH', body: { account_id } }),
    // Everything on the page belonged to the other account.
    onSuccess: () => client.resetQueries(),
  });
  return (
    <Menu position="bottom-end" width={250} withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={say('shell.person')}>
          <Icon name="profile" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {session !== null && (
          <>
            <Menu.Label>{session.person.email}</Menu.Label>
            {session.accounts.map((account) => (
              <Menu.Item
                key={account.account_id}
                onClick={() => work.mutate(account.account_id)}
                rightSection={account.account_id === session.account?.account_id ? '✓' : undefined}
              >
                {account.name}
              </Menu.Item>
            ))}
            <Menu.Divider />
            <Menu.Item component={Link} to="/console/profile">
              {say('nav.profile')}
            </Menu.Item>
          </>
        )}
        <Menu.Item onClick={() => setColorScheme(scheme === 'dark' ? 'light' : 'dark')}>
          {say(scheme === 'dark' ? 'shell.light' : 'shell.dark')}
        </Menu.Item>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <Menu.Item
            key={code}
            lang={code}
            onClick={() => choose(code as Language)}
            rightSection={code === language ? '✓' : undefined}
          >
            {name}
          </Menu.Item>
        ))}
        {session !== null && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => signOut(session.csrf_token)}>{say('shell.signOut')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** By the page's own form, as on pages without scripts: the answer takes the cookie away. */
function signOut(csrf: string): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/sign-out';
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = 'csrf';
  field.value = csrf;
  form.append(field);
  document.body.append(form);
  form.submit();
}
