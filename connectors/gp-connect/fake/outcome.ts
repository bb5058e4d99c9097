import { profile } from './names.ts';

/** What ends a request with an error. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;

  /** @param code of the Spine. Absent: none */
  constructor(status: number, code?: string) {
    super(`${status} ${code ?? ''}`);
    this.status = status;
    this.code = code;
  }
}

/** An OperationOutcome. Its diagnostics have somebody's data, which no log may show. */
export function outcome(code: string | undefined): object {
  const system = 'https://fhir.nhs.uk/STU3/CodeSystem/Spine-ErrorOrWarningCode-1';
  return {
    resourceType: 'OperationOutcome',
    meta: { profile: [profile('GPConnect-OperationOutcome-1')] },
    issue: [
      {
        severity: 'error',
        code: 'invalid',
        ...(code === undefined ? {} : { details: { coding: [{ system, code, display: code }] } }),
        diagnostics: 'The record of Merry Meadow, NHS number 9990000018, has a fault',
      },
    ],
  };
}

export function outcomeInXml(code: string): string {
  return `<OperationOutcome xmlns="http://hl7.org/fhir"><issue><severity value="error"/><code value="invalid"/><details><coding><code value="${code}"/></coding></details></issue></OperationOutcome>`;
}
