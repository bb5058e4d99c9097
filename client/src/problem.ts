import type { Schemas } from './types.ts';

type Base = Schemas['Problem'];

/** The closed list of errors. `/problems/{reason}` of the gateway explains each one. */
export type Reason = Base['reason'];

type OptionalKeys = { [Key in keyof Base]-?: undefined extends Base[Key] ? Key : never }[keyof Base];

/** The members that only problems of one reason have. `Covered` fails to compile if the schema has another one. */
interface Members {
  confirmation_code_incorrect: Required<Pick<Base, 'attempts_remaining'>>;
}
type Covered<Keys extends { [R in keyof Members]: keyof Members[R] }[keyof Members]> = Keys;

type ProblemFor<R extends Reason> = Omit<Base, 'reason' | Covered<OptionalKeys>> & {
  reason: R;
} & (R extends keyof Members ? Members[R] : unknown);

/** An RFC 9457 problem document, as a union that is discriminated by `reason`. */
export type Problem<R extends Reason = Reason> = { [Each in R]: ProblemFor<Each> }[R];

/** Whether a response body is a problem document of the gateway, not the error page of a proxy. */
export function isProblemDocument(body: unknown): body is Problem {
  return (
    typeof body === 'object' &&
    body !== null &&
    'reason' in body &&
    typeof body.reason === 'string' &&
    'retryable' in body &&
    typeof body.retryable === 'boolean'
  );
}
