// Bounds of several database servers and of a replica, as limits.ts has the others.

/** Of several database servers: how long the others are waited for once one has answered that suits. */
export const SERVER_GRACE_MS = 250;
/** How often the servers that are not in use are inspected. */
export const SERVER_WATCH_MS = 5_000;
/** How often the replica's lag is looked at. */
export const REPLICA_LOOK_MS = 1_000;
/** How often, at most, all connections to a server that refuses writes are replaced. */
export const DEMOTION_EVERY_MS = 1_000;
export const REPLICA_LAG_SECONDS_MAX = 3_600;
