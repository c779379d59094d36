import { Link } from '@tanstack/react-router';
import { Empty } from '../kit/states.tsx';
import { useSay } from '../text.tsx';

export function NotFound() {
  const say = useSay();
  return <Empty action={<Link to="/console">{say('nav.overview')}</Link>}>{say('state.nothingHere')}</Empty>;
}
