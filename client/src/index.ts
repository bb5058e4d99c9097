export type { PrivateKey } from './access-tokens.ts';
export type { Appointments } from './appointments.ts';
export type { CareUnitClient, CrosswardClient, CrosswardClientOptions } from './client.ts';
export { createCrosswardClient } from './client.ts';
export { ConnectionError, CrosswardError, isProblem, ProblemError, TokenError } from './errors.ts';
export type { List, Page } from './pages.ts';
export type { Problem, Reason } from './problem.ts';
export type { RetryOptions } from './retry.ts';
export type * from './types.ts';
