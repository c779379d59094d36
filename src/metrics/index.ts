/** The figures of this process and of the deployment for whatever scrapes them, and a port of their own to scrape them at. */
export type { MetricsDeps } from './deps.ts';
export { MetricsListener } from './listener.ts';
export { openMetrics } from './metrics.ts';
