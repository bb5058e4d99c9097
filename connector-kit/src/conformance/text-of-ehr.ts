import { expectThat } from './expect.ts';

const name = 'Quillfeather';
const number = '9990000107';

/** What an EHR says of a person in an answer that fails. Synthetic: NHS numbers from 999 000 0000 are never issued. */
const aboutPatient = `${name} ${number}`;

/** A page of a proxy, or of another server. */
export const pageInHtml = `<!doctype html><title>${aboutPatient}</title><p>${aboutPatient}</p>`;

/** An answer that fails, in JSON: its text stands wherever connectors look for one. */
export const refusalInJson = JSON.stringify({
  ...Object.fromEntries(
    ['error', 'code', 'message', 'detail', 'errors', 'exception', 'error_description'].map((it) => [it, aboutPatient]),
  ),
  resourceType: 'OperationOutcome',
  issue: [{ severity: 'error', code: 'processing', diagnostics: aboutPatient, details: { text: aboutPatient } }],
});

/** The message of an error is logged, so it has no text of the EHR. */
export function expectNoTextOfEhr(error: unknown, what: string): void {
  const message = error instanceof Error ? error.message : String(error);
  const isQuoted = [name, number].some((it) => message.includes(it));
  expectThat(!isQuoted, `${what} put text of the EHR into the message of its error, which is logged: use "cause"`);
}
