export { type ReadHeader, type ResolvedText, resolveHeaderReference } from './header-reference.ts';
export { IdentifierError, type IdentifierErrorReason } from './identifier-error.ts';
export {
  formatIdentifier,
  type IdentifierPolicy,
  parsePatientIdentifier,
  parseResourceIdentifier,
} from './notation.ts';
export { readPatientIdentifier, readResourceIdentifier } from './read.ts';
