import { type Flaw, Problem } from '../../problems/problem.ts';

/** 422: the body is valid FHIR, and the gateway cannot do what it says. `pointer` is a JSON Pointer into it. */
export function unprocessable(pointer: string, detail: string, flaw: Flaw = 'business-rule'): Problem {
  return invalid(pointer, detail, flaw, 422);
}

/** 400, or another status: the body is not as FHIR or the interaction asks. */
export function invalid(pointer: string, detail: string, flaw: Flaw = 'value', status = 400): Problem {
  const fault = { place: { in: 'body', pointer }, reason: 'request_invalid', detail, flaw } as const;
  return new Problem('request_invalid', { status, detail, faults: [fault] });
}
