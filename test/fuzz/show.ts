import { loadavg } from 'node:os';
import type { Campaign } from './campaign.ts';
import { BLOCKED_MS, STALL_MS_MAX } from './goals.ts';

const MIB = 1024 * 1024;

/** What a campaign has to say, findings last. */
export function showCampaign(
  { requests, seconds, statuses, health, longestTurnMs, memory, findings }: Campaign,
  seed: number,
): string {
  const mib = (bytes: number | undefined) => ((bytes ?? 0) / MIB).toFixed(0);
  const [first, last] = [memory[1] ?? memory[0], memory.at(-1)];
  return [
    `${requests} requests from seed ${seed} in ${Math.round(seconds)} s`,
    `answers: ${Object.entries(statuses)
      .map(([status, count]) => `${status} × ${count}`)
      .join(', ')}`,
    `memory in use after collection: ${mib(first?.usedBytes)} MiB early, ${mib(last?.usedBytes)} MiB at the end`,
    `resident: ${mib(first?.residentBytes)} MiB early, ${mib(last?.residentBytes)} MiB at the end`,
    `/healthz: asked ${health.asked} times, longest ${health.longestMs.toFixed(0)} ms, ${health.late} above ${STALL_MS_MAX} ms, ` +
      `${health.failed} failed; without what the machine took away longest ${health.longestOwnMs.toFixed(0)} ms, ` +
      `${health.lateOwn} above ${STALL_MS_MAX} ms; the probe itself was late by up to ${health.ownDelayMs.toFixed(0)} ms, load ${loadavg()[0]?.toFixed(1)}`,
    `longest turn of the event loop: ${longestTurnMs === 0 ? `below ${BLOCKED_MS}` : Math.round(longestTurnMs)} ms of processor time`,
    `${findings.length} findings`,
    ...findings.map(({ fault, count, repeat }) => `- ${count} × ${fault}\n    ${repeat}`),
  ].join('\n');
}

/** Which operations were answered how: an operation that is only ever refused is not tested. */
export function showCoverage({ coverage }: Campaign): string {
  const rows = [...coverage].sort(([a], [b]) => a.localeCompare(b));
  return rows.map(([place, count]) => `${String(count).padStart(8)}  ${place}`).join('\n');
}
