import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../../api/client.ts';
import type { RequestRecordDetail } from '../../../api/schema.ts';
import { Fact, Facts } from '../../../kit/facts.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { useSay } from '../../../text.tsx';
import { RequestDetail } from '../../activity/request.tsx';
import { AccountLink } from '../account-link.tsx';
import { REQUESTS_PATH } from './requests.tsx';

/** One request of any account: whose it is, who answered it, and its receipt. */
export function Request() {
  const say = useSay();
  const { requestId = '' } = useParams({ strict: false }) as { readonly requestId?: string };
  const path = `${REQUESTS_PATH}/${requestId}`;
  const detail = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<RequestRecordDetail>(path, { signal }) });
  return (
    <Page title={say('request.title')} about={<Link to={'/console/admin/requests'}>{say('requests.back')}</Link>}>
      <Loaded query={detail}>
        {(request) => (
          <>
            <Panel title={say('requests.whose')}>
              <Facts>
                <Fact label={say('requests.account')}>
                  <AccountLink id={request.account_id} />
                </Fact>
                <Fact label={say('requests.upstream')}>
                  <span className="mono">{request.upstream ?? '–'}</span>
                </Fact>
              </Facts>
            </Panel>
            <RequestDetail request={request} side="admin" />
          </>
        )}
      </Loaded>
    </Page>
  );
}
