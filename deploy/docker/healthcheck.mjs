// Ends with 0 while this process lives. An engine that is away is no reason to restart it: that is what /readyz tells.
const answer = await fetch(`http://127.0.0.1:${process.env.PORT ?? 8787}/livez`).catch(() => undefined);
process.exit(answer?.ok === true ? 0 : 1);
