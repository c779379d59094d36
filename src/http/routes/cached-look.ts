import { HEALTH_CACHE_MS, HEALTH_PROBE_TIMEOUT_MS } from '../../limits.ts';

/** Looks at most once a second, and waits at most one; `away` is the answer where the look fails or is late. */
export function cachedLook<Found>(look: () => Promise<Found>, away: Found): () => Promise<Found> {
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let answer: Promise<Found> = Promise.resolve(away);
  return () => {
    const nowMs = performance.now();
    if (nowMs - lookedAtMs > HEALTH_CACHE_MS) {
      lookedAtMs = nowMs;
      answer = withinTimeout(look(), away);
    }
    return answer;
  };
}

async function withinTimeout<Found>(looking: Promise<Found>, away: Found): Promise<Found> {
  const late = Promise.withResolvers<Found>();
  const timer = setTimeout(() => late.resolve(away), HEALTH_PROBE_TIMEOUT_MS);
  try {
    return await Promise.race([looking.catch(() => away), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
