import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readExportState } from '../../audit/export/export-state.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Database } from '../../db/database.ts';
import { errorCode } from '../../db/errors.ts';
import { createDb } from '../../db/kysely.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('database');
const subject = 'audit export';
/** Seconds. */
const late = 300;

/** Whether the audit trail is written to its file, and whether the file can be written here. Writes nothing. */
export async function checkAuditExport({ audit }: Configuration, database: Database): Promise<Finding[]> {
  if (!audit.export) return [];
  const file = resolve(audit.export.file);
  const fault = await writeFault(file);
  const { exported, last, waiting_since, failure } = await readExportState(createDb(database));
  const age = waiting_since ? Math.round((Date.now() - waiting_since.getTime()) / 1000) : 0;
  const behind = `${last - exported} entries are not in the file, the oldest for ${age} seconds`;
  const reason = failure === null ? '' : `; the last attempt failed with ${failure}`;
  return [
    age > late
      ? found(subject, 'problem', `${behind}${reason}`)
      : found(subject, failure ? 'warning' : 'ok', `${behind}${reason}`),
    ...(fault === undefined ? [] : [found(subject, 'warning', `${file} cannot be written here: ${fault}`)]),
  ];
}

/** The code of the operating system. `undefined`: it can be written. */
async function writeFault(file: string): Promise<string | undefined> {
  const codeOf = (path: string) =>
    access(path, constants.W_OK).then(
      () => undefined,
      (error: unknown) => errorCode(error) ?? 'unknown',
    );
  const fault = await codeOf(file);
  return fault === 'ENOENT' ? codeOf(dirname(file)) : fault;
}
