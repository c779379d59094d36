/** Keeps the gateway from starting. The message is for the operator. */
export class StartError extends Error {}
