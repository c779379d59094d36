import { z } from 'zod';
import type { EstimatedPrice, PriceComparison } from '../../calls/index.ts';
import type { ConfigVersion, VersionSummary } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { type DocumentProblem, ENDPOINTS } from '../../configuration/index.ts';
import { creditsToNumber } from '../../credits.ts';

/** The configuration, its versions and its prices in wire shape. */

export const documentSchema = z.strictObject({
  upstreams: z.array(z.record(z.string(), z.unknown())),
  models: z.array(z.record(z.string(), z.unknown())),
});

const changes = z.array(z.string()).describe('One line each; empty when nothing changed.');
const warnings = z.array(z.string()).describe('What is lawful and probably not meant; empty when nothing is.');

export const appliedSchema = z.strictObject({ object: z.literal('config'), version: z.int(), changes, warnings });

export const checkSchema = z
  .strictObject({
    object: z.literal('config_check'),
    valid: z.boolean(),
    problems: z.array(
      z.strictObject({
        path: z.string().describe('Such as `models[2].pricing.credits.base`; empty for the document as a whole.'),
        problem: z.string(),
        line: z.int().nullable(),
        column: z.int().nullable(),
      }),
    ),
    changes: changes.describe('What applying it would change, one line each.'),
    warnings,
  })
  .meta({ id: 'ConfigCheck' });

export function problemView({ path, problem, line, column }: DocumentProblem) {
  return { path, problem, line: line ?? null, column: column ?? null };
}

const summary = {
  object: z.literal('config_version'),
  version: z.int(),
  source: z.enum(['file', 'built-in', 'operator']),
  applied_at: z.int(),
  actor: z.string().describe('As the audit names it.'),
  change_count: z.int().describe('Lines of a comparison with the version before it.'),
};

export const versionSummarySchema = z.strictObject(summary).meta({ id: 'ConfigVersionSummary' });
export const versionSchema = z.strictObject({ ...summary, document: documentSchema }).meta({ id: 'ConfigVersion' });

export function versionSummaryView(version: VersionSummary): z.infer<typeof versionSummarySchema> {
  return {
    object: 'config_version',
    version: Number(version.version),
    source: version.source,
    applied_at: unixSeconds(version.appliedAt),
    actor: version.actor,
    change_count: version.changeCount,
  };
}

export function versionView(version: ConfigVersion): z.infer<typeof versionSchema> {
  return { ...versionSummaryView(version), document: version.document };
}

const credits = z.number().nullable();

export const comparisonSchema = z
  .strictObject({
    object: z.literal('config_estimate'),
    data: z.array(
      z.strictObject({
        model: z.string(),
        endpoint: z.enum(ENDPOINTS),
        call: z.string().describe('The call in words.'),
        credits_now: credits.describe('By the configuration in force; null where there is no such price.'),
        credits_then: credits.describe('By the document.'),
        change: credits.describe('By how much it becomes dearer.'),
        problems: z.array(z.string()).describe('Why there is no price, now or then.'),
      }),
    ),
    has_more: z.boolean(),
  })
  .meta({ id: 'ConfigEstimate' });

export function comparisonView({ model, endpoint, label, before, after }: PriceComparison) {
  const [now, then] = [creditsOf(before), creditsOf(after)];
  const change = 'credits' in before && 'credits' in after ? creditsToNumber(after.credits - before.credits) : null;
  const problems = [
    ...('problem' in before ? [`Now: ${before.problem}`] : []),
    ...('problem' in after ? [`Then: ${after.problem}`] : []),
  ];
  return { model, endpoint, call: label, credits_now: now, credits_then: then, change, problems };
}

function creditsOf(price: EstimatedPrice): number | null {
  return 'credits' in price ? creditsToNumber(price.credits) : null;
}
