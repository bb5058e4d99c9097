import { ConnectorError, type LeftOutRecord } from '@crossward/connector-kit';
import { countedRecord, readRecord, type Static, type TSchema } from '@crossward/connector-kit/rest';
import type { EhrClient } from './ehr-client.ts';

export interface Reader {
  readonly client: EhrClient;
  leftOut(record: LeftOutRecord): void;
}

/** A kind of record. The EHR's own staff and programs may have written anything. */
export interface Kind<Schema extends TSchema> {
  readonly name: string;
  readonly schema: Schema;
}

/** All entries of a search. One that cannot be read is an error: it is not gone. */
export async function readAll<Schema extends TSchema>(
  { client }: Pick<Reader, 'client'>,
  path: string,
  body: object,
  kind: Kind<Schema>,
): Promise<readonly Static<Schema>[]> {
  return (await client.search(path, body)).map((entry) => readable(kind, entry));
}

/** As `readAll`, for a list. A record that cannot be read hides no other: it is left out, and counted. */
export async function listAll<Schema extends TSchema>(
  { client, leftOut }: Reader,
  path: string,
  body: object,
  { name, schema }: Kind<Schema>,
): Promise<readonly Static<Schema>[]> {
  const entries = await client.search(path, body);
  return entries.flatMap((entry) => countedRecord({ leftOut }, name, schema, entry) ?? []);
}

/** @throws ConnectorError `rejected` for an entry that cannot be read */
export function readable<Schema extends TSchema>({ name, schema }: Kind<Schema>, entry: unknown): Static<Schema> {
  const { record, path } = readRecord(schema, entry);
  if (path === undefined) return record;
  throw new ConnectorError('rejected', `The EHR sent a ${name} that cannot be read, at ${path}`);
}
