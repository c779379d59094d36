import { z } from 'zod';
import type { AuditRow } from '../../audit/index.ts';
import { unixSeconds } from '../../clock.ts';

const seconds = z.int().describe('Unix seconds.');

export const auditSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('audit_entry'),
    at: seconds,
    actor: z.string(),
    action: z.string(),
    target: z.string(),
    detail: z.record(z.string(), z.unknown()),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });

export function auditView(row: AuditRow): z.infer<typeof auditSchema> {
  return {
    id: String(row.id),
    object: 'audit_entry',
    at: unixSeconds(row.at),
    actor: row.actor,
    action: row.action,
    target: row.target,
    detail: row.detail,
    request_id: row.requestId,
  };
}
