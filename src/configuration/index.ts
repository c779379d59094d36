/**
 * The configuration document: upstreams and models as an operator writes them. Pure: text in, a checked document or
 * every problem at once out. Hides YAML, the shape of each field, and the rules between fields.
 */
export { BUILT_IN_CATALOGUE } from './built-in.ts';
export { diffDocuments } from './diff.ts';
export {
  type ConfigDocument,
  type ConfigModel,
  type ConfigUpstream,
  documentWarnings,
  parseDocument,
} from './document.ts';
export { documentJsonSchema } from './json-schema.ts';
export { parseSourceAsync } from './parsing.ts';
export { DocumentError, type DocumentProblem, type Finding } from './problems.ts';
export {
  checkVariables,
  type DocumentInForce,
  maskDocument,
  resolveSecrets,
  unmaskDocument,
  unsetVariables,
} from './secrets.ts';
export type { VendorTerms } from './vendor-terms.ts';
export { ENDPOINTS, type Endpoint, MODALITIES } from './vocabulary.ts';
export { writeYaml } from './write-yaml.ts';
