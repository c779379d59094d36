import { Outlet } from '@tanstack/react-router';
import { isOperator, useSignedIn } from '../../api/session.ts';
import { NotFound } from '../not-found.tsx';

/** The operator's pages are there for operators and auditors alone; for others this address has nothing. */
export function OperatorGate() {
  return isOperator(useSignedIn()) ? <Outlet /> : <NotFound />;
}
