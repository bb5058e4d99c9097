import { text } from 'node:stream/consumers';
import type { Output } from './output.ts';
import { askHidden } from './read-password.ts';

export const patientOption = [
  '--patient <identifier>',
  'such as emr_id:p-1; needs --emr. "-" asks for it or reads it from standard input, which keeps it out of the shell history',
] as const;

/** The identifier of `--patient`. `-`: asks for it, or reads the first line of standard input. */
export async function readPatientNumber(output: Output, typed: string | undefined): Promise<string | undefined> {
  if (typed !== '-') return typed;
  return output.input.isTTY ? askHidden(output, 'Patient: ') : ((await text(output.input)).split(/\r?\n/, 1)[0] ?? '');
}
