export type { ReadHeader } from './header-reference.ts';
export { readPatientIdentifier, readResourceIdentifier } from './header-reference.ts';
export { IdentifierError } from './identifier-error.ts';
export { formatIdentifier, parsePatientIdentifier } from './notation.ts';
export { plainText, showsNationalNumber } from './plain-text.ts';
export { isReferable } from './referable-headers.ts';
export type { ValueRule } from './value-rules.ts';
