import { Stack } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useMayOperate } from '../../../api/session.ts';
import { Confirm } from '../../../kit/confirm.tsx';
import { Diff } from '../../../kit/diff.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { useSay } from '../../../text.tsx';
import { applyVersion, CHANGED_BY_CONFIG, useVersionInForce, useVersionYaml, useYaml } from './config-api.ts';

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }));

/** One earlier configuration: its text, how it differs from the one in force, and the way back to it. */
export function ConfigVersion() {
  const { version = '' } = useParams({ strict: false }) as { readonly version?: string };
  const inForce = useYaml();
  const first = useVersionInForce();
  // All at once, so that nothing moves when the next part comes.
  return (
    <Loaded query={first} lines={6}>
      {(newest) => (
        <Loaded query={inForce} lines={6}>
          {(text) => <Version version={version} inForce={String(newest?.version) === version ? undefined : text} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface VersionProps {
  readonly version: string;
  /** The text in force, where it is another version's. */
  readonly inForce: string | undefined;
}

function Version({ version, inForce }: VersionProps) {
  const say = useSay();
  return (
    <Page
      title={say('configuration.versionTitle', { version })}
      about={<Link to="/console/admin/configuration/versions">{say('configuration.tabs.versions')}</Link>}
      actions={inForce === undefined ? undefined : <RollBack version={Number(version)} />}
    >
      <Loaded query={useVersionYaml(version)} lines={6}>
        {(text) => (
          <Stack gap="lg">
            {inForce !== undefined && (
              <Panel title={say('configuration.backChanges')}>
                <Diff label={say('configuration.backChanges')} before={inForce} after={text} />
              </Panel>
            )}
            <Panel title={say('configuration.tabs.document')}>
              <Suspense fallback={<div className="editor" />}>
                <Editor label={say('configuration.editor')} text={text} schema={undefined} problems={[]} isReadOnly />
              </Suspense>
            </Panel>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function RollBack({ version }: { readonly version: number }) {
  const say = useSay();
  const navigate = useNavigate();
  if (!useMayOperate()) return null;
  return (
    <Confirm
      label={say('configuration.rollBack')}
      title={say('configuration.rollBackTitle', { version })}
      act={async () => {
        await applyVersion(version);
        await navigate({ to: '/console/admin/configuration/versions' });
      }}
      changes={CHANGED_BY_CONFIG}
    >
      {say('configuration.rollBackAbout')}
    </Confirm>
  );
}
