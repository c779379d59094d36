/**
 * Models of a Tollgate gateway in the shapes of the AI SDK (specification v4). Chat is the common format, and so is left to
 * the package for that; everything else goes through `@tollgate/client`, which knows of jobs and retries.
 */
export { createTollgate, type TollgateModels, type TollgateSettings } from './tollgate.ts';
